"""The one thread that pins batches cannot keep up, while the workers idle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Cause, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import BUSY_WORKERS, WORKERS_BUSY, at_least, below, bound, known, waits

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

BUSY = Threshold(
    0.8, "share", "A thread that shares the interpreter's lock is full well before it is busy all the time."
)
REPINNED = Threshold(1.0, "a step", "Pinned memory that is allocated in every step is not reused: its sizes vary.")
_FEWER_TENSORS = "Put each field of a batch into one tensor in collate_fn, so that fewer and larger ones are pinned."
_SAME_SHAPES = "Pad batches to a few fixed shapes, so that pinned memory is reused rather than allocated anew."


def has_pin_thread(_signals: Signals, loader: LoaderSignals) -> str | None:
    """Only workers have one behind them."""
    if loader.settings.pin_memory and loader.settings.num_workers > 0:
        return None
    return "The loader has no thread that pins batches."


def treat(signals: Signals, loader: LoaderSignals) -> Treatment:
    """Fewer tensors, or sizes that come again."""
    repinned = known(signals.device.host_allocations_per_step) >= REPINNED.value
    return Treatment(
        _SAME_SHAPES if repinned else _FEWER_TENSORS,
        bound=bound(known(loader.exposed_wait_share)),
    )


CAUSE = Cause(
    id="pin-thread-contention",
    title="The thread that pins batches cannot keep up with the workers",
    applies=(has_pin_thread,),
    gates=(
        waits(),
        at_least(Signal("device.pin_busy_share", "The pin thread is at work, of the time"), BUSY),
        below(BUSY_WORKERS, WORKERS_BUSY),
    ),
    treat=treat,
    shows=(
        Signal("loader.tensors_per_batch", "Tensors in a batch"),
        Signal("device.host_allocations_per_step", "Pinned allocations"),
    ),
    scope="run",
)
