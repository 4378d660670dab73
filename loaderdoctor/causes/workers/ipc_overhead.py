"""Moving a batch from a worker to the training takes longer than making it: the workers slow the training down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaderdoctor.causes.base import Cause, Change, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, below, counted, has_workers, has_workload, is_torchs, waits
from loaderdoctor.causes.workers.hand_over import MANY_PIECES, MOVING_OF_WAITS, MOVING_OVER_MAKING, PIECES, RECEIVING

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

DEARER = Threshold(1.0, "times", "From here on, a worker costs more time than it takes over.")

CROWDED = Threshold(
    0.5,
    "share",
    "Where processes wait for a core longer than they have one, a hand-over is that wait, not its own work.",
)
FILLS = Threshold(
    0.4, "share", "What fills less of the waits is not their cause: the sampler, say, runs in next() too."
)
TORCHS_PREFETCH = 2  # what torch sets itself where there are workers: it is not in the source


def treat(_signals: Signals, loader: LoaderSignals) -> Treatment:
    """No workers; torch refuses two of their settings without them."""
    settings: dict[str, Any] = {"num_workers": 0}
    if loader.settings.persistent_workers:
        settings["persistent_workers"] = False
    if loader.settings.prefetch_factor is not None and loader.settings.prefetch_factor != TORCHS_PREFETCH:
        settings["prefetch_factor"] = None
    return Treatment(
        "Make the batches in the training process: making one takes less than getting it from "
        f"{counted(loader.settings.num_workers)}.",
        Change(settings),
    )


CAUSE = Cause(
    id="ipc-overhead",
    title="Moving a batch between processes costs more than making it",
    applies=(has_workers, is_torchs, has_workload),
    gates=(
        waits(),
        below(Signal("loader.fetch_run_queue_share", "Batches being made wait for a core"), CROWDED, if_known=True),
        at_least(MOVING_OVER_MAKING, DEARER),
        at_least(MOVING_OF_WAITS, FILLS),
        below(PIECES, MANY_PIECES, if_known=True),
    ),
    treat=treat,
    shows=(
        Signal("loader.fetch_s", "Making a batch, in a worker"),
        Signal("loader.send_s", "Sending it"),
        Signal("loader.receive_s", "Taking it in, in the training process"),
        RECEIVING,
        Signal("loader.worker_busy_share", "Workers make batches, of their time"),
    ),
)
