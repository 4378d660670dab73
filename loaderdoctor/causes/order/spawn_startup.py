"""Workers that are spawned import the script and receive the data set again, every epoch, while the training waits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, has_workers, is_torchs, waits
from loaderdoctor.causes.order.gaps import EPOCH_GAPS, GAP_S, GAPS, has_epochs, keep_workers, starts_anew

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

STARTING = Threshold(0.3, "share", "A gap of which the starts are less than this is filled by something else.")
_SPAWNED = ("spawn", "forkserver")
_LEAN = (
    "Workers that must be spawned start faster with less to import (keep imports that only training needs out of the module "
    "that defines the data set) and less to receive (leave tables out of the data set's pickled state)."
)
_EXAMPLE = (
    'def __getstate__(self):\n    return {**self.__dict__, "table": None}  # each worker opens it at its first sample'
)


def is_spawned(_signals: Signals, loader: LoaderSignals) -> str | None:
    """A fork has everything its parent has."""
    method = loader.settings.start_method
    return None if method in _SPAWNED else f"Workers are started by {method or 'the default method'}, not spawned."


def treat(signals: Signals, loader: LoaderSignals) -> Treatment:
    """Start them once; and what makes a start cheaper."""
    kept = keep_workers(signals, loader)
    lean = Action("code", _LEAN, site=loader.site, example=_EXAMPLE)
    return replace(kept, actions=(*kept.actions, lean))


CAUSE = Cause(
    id="spawn-startup",
    title="Each worker imports the script and receives the data set again, every epoch",
    applies=(has_workers, is_torchs, is_spawned, has_epochs, starts_anew),
    gates=(
        waits(),
        at_least(EPOCH_GAPS, GAPS),
        at_least(
            Signal("loader.order.gap_start_share", "Ending old workers and spawning new ones, of such a gap"), STARTING
        ),
    ),
    treat=treat,
    shows=(GAP_S, Signal("loader.making.worker_start_s", "From starting a worker until it asks for work")),
    slice=EPOCH_GAPS,
    explains=("worker-respawn", "too-few-workers"),
)
