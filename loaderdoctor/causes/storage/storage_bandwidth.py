"""The disk is busy all the time with large reads, and the training waits for its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, bound, known, value_of, waits
from loaderdoctor.causes.storage.reading import (
    DISK_WAITS,
    FROM_DISK,
    LARGE_REQUESTS,
    REQUEST_BYTES,
    is_on_this_machine,
)

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

BUSY_DISK = Threshold(
    0.8, "share", "A disk that idles more than this could deliver more if it were asked for more at once."
)


def treat(signals: Signals, loader: LoaderSignals) -> Treatment:
    """Fewer bytes, or a faster place; more readers would only share what there is."""
    return Treatment(
        "Read fewer bytes (a smaller encoding, only the part that is used), or put the data on a faster disk or into memory; "
        "more workers would share the same disk.",
        bound=bound(known(loader.exposed_wait_share) * known(value_of(DISK_WAITS, signals, loader))),
        actions=(
            Action(
                "code",
                "Store what the training uses of each file, once, and read that",
                site=loader.reads.reading_site or loader.reads.waiting_site,
                example="np.save(small, volume[::2, ::8, ::8])   # once, before the training\nvolume = np.load(small)",
            ),
            Action("system", "Move the data to a local NVMe disk, or to /dev/shm where it fits into memory"),
        ),
    )


CAUSE = Cause(
    id="storage-bandwidth",
    title="The disk delivers bytes as fast as it can, and that is too slow",
    applies=(is_on_this_machine,),
    gates=(
        waits(),
        at_least(DISK_WAITS, FROM_DISK),
        at_least(REQUEST_BYTES, LARGE_REQUESTS),
        at_least(Signal("disk.busy_share", "The disk has work, of the time"), BUSY_DISK),
    ),
    treat=treat,
    shows=(
        Signal("disk.job_read_bytes_per_s", "Read from the disk by this job"),
        Signal("loader.making.disk_bytes", "Read from the disk for a batch"),
        Signal("loader.batch_bytes", "Bytes of a batch as it is delivered"),
    ),
    explains=("too-few-workers", "no-workers", "read-amplification", "head-of-line", "bursty-prefetch"),
)
