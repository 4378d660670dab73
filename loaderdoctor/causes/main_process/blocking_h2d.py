"""Batches are pinned, but each copy holds up the host and the one stream there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Cause, Treatment
from loaderdoctor.causes.gates import (
    BLOCKING,
    BLOCKING_COPIES,
    COPIES_FELT,
    EXPOSED_COPIES,
    FROM_PINNED,
    PINNED,
    at_least,
    bound,
    known,
)

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals


def treat(signals: Signals, _loader: LoaderSignals) -> Treatment:
    """A copy can hide behind the computing of a step, no longer."""
    hidden = min(known(signals.device.copy_share), known(signals.steps.compute_share, otherwise=1.0))
    return Treatment(
        "Copy the next batch with non_blocking=True on a stream of its own while this one is computed.",
        bound=bound(hidden, at_least=hidden / 2),
    )


CAUSE = Cause(
    id="blocking-h2d",
    title="The copy of each batch to the device holds up the training",
    # Pinning comes first: without it no copy runs beside the host.
    gates=(at_least(EXPOSED_COPIES, COPIES_FELT), at_least(FROM_PINNED, PINNED), at_least(BLOCKING_COPIES, BLOCKING)),
    treat=treat,
    slice=EXPOSED_COPIES,
    scope="run",
)
