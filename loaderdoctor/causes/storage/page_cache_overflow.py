"""The data does not fit into memory: each pass reads from the disk what the one before has pushed out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, bound, derived, known, value_of, waits
from loaderdoctor.causes.storage.reading import DISK_WAITS, FROM_DISK
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

AGAIN = Threshold(0.3, "share", "A pass that finds more than two thirds in memory is not one that reads it all again.")
PUSHED_OUT = Threshold(
    0.3, "share", "Of what is read from the disk; what was never in memory was not pushed out of it."
)
PAGE_BYTES = 4096


def _refaulted(signals: Signals, _loader: LoaderSignals) -> Value:
    """Bytes that were pushed out of memory and read again, over all that the job reads from the disk."""
    again, disk = signals.machine.file_refaults_per_s, signals.disk
    if not isinstance(again, Measured):
        return again
    if disk is None or not isinstance(disk.job_read_bytes_per_s, Measured):
        return again if disk is None else disk.job_read_bytes_per_s
    read = disk.job_read_bytes_per_s.value
    if read <= 0:
        return Measured.exact(0.0, "share", again.n)
    low, best, high = (min(1.0, getattr(again, end) * PAGE_BYTES / read) for end in ("low", "value", "high"))
    return Measured(best, low, high, again.n, "share")


def treat(signals: Signals, loader: LoaderSignals) -> Treatment:
    """Smaller data, more memory, or an order that the disk likes."""
    return Treatment(
        "Make the data fit into memory (a smaller encoding, fewer workers beside it, more memory), or read it in large shards one "
        "after the other and shuffle within a buffer.",
        bound=bound(known(loader.exposed_wait_share) * known(value_of(DISK_WAITS, signals, loader))),
        actions=(
            Action("code", "Store what is used of it in fewer bytes", site=loader.reads.reading_site),
            Action("system", "Give the job more memory, or move the data to a faster disk"),
        ),
    )


CAUSE = Cause(
    id="page-cache-overflow",
    title="The dataset does not fit into memory, so every epoch reads it again",
    gates=(
        waits(),
        at_least(DISK_WAITS, FROM_DISK),
        at_least(Signal("loader.passes.later_from_disk", "Read from the disk in passes after the first"), AGAIN),
        at_least(
            derived("machine.file_refaults_per_s", "Pushed out of memory before it was read again", _refaulted),
            PUSHED_OUT,
        ),
    ),
    treat=treat,
    shows=(
        Signal("machine.memory_available_bytes", "Memory that was left"),
        Signal("disk.job_read_bytes_per_s", "Read from the disk by this job"),
    ),
    explains=("storage-bandwidth", "small-file-latency", "too-few-workers", "no-workers"),
)
