"""The one thread that pins batches cannot keep up, while the workers idle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.answers import (
    bound,
    found,
    known,
    not_applicable,
    number,
    prescribe,
    ruled_out,
    share_of,
    waits_too_little,
)
from loaderdoctor.causes.base import Cause, Finding, Threshold
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

ID = "pin-thread-contention"
BUSY = Threshold(
    0.8, "share", "A thread that shares the interpreter's lock is full well before it is busy all the time."
)
WORKERS_BUSY = Threshold(0.85, "share", "Workers that are this busy are the limit before the thread behind them is.")
REPINNED = Threshold(1.0, "a step", "Pinned memory that is allocated in every step is not reused: its sizes vary.")


def check(signals: Signals, loader: LoaderSignals) -> Finding:
    """Found where the pin thread is full and the workers before it are not."""
    if not loader.settings.pin_memory or loader.settings.num_workers == 0:
        return not_applicable(ID, loader, "The loader has no thread that pins batches.")
    thread = number(signals.device.pin_busy_share, "The pin thread is at work, of the time", BUSY)
    workers = number(loader.worker_busy_share, "Workers make batches, of their time", WORKERS_BUSY)
    if idle := waits_too_little(ID, loader):
        return idle
    if known(signals.device.pin_busy_share) < BUSY.value:
        return ruled_out(ID, loader, thread)
    if known(loader.worker_busy_share) >= WORKERS_BUSY.value:
        return ruled_out(ID, loader, workers)
    allocations = signals.device.host_allocations_per_step
    repinned = isinstance(allocations, Measured) and allocations.value >= REPINNED.value
    return found(
        ID,
        loader,
        thread,
        workers,
        number(loader.tensors_per_batch, "Tensors in a batch"),
        number(allocations, "Pinned allocations", REPINNED),
        step_share=share_of(loader.exposed_wait_share),
        gain=bound(known(loader.exposed_wait_share)),
        prescription=prescribe(None, {}, _SAME_SHAPES if repinned else _FEWER_TENSORS),
    )


_FEWER_TENSORS = "Put each field of a batch into one tensor in collate_fn, so that fewer and larger ones are pinned."
_SAME_SHAPES = "Pad batches to a few fixed shapes, so that pinned memory is reused rather than allocated anew."

CAUSE = Cause(
    id=ID,
    title="The thread that pins batches cannot keep up with the workers",
    needs=("loader.exposed_wait_share", "loader.worker_busy_share", "device.pin_busy_share"),
    check=check,
    scope="run",
)
