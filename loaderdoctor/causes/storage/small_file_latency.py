"""Samples wait for many small reads, each of which takes as long as a large one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Signal, Treatment
from loaderdoctor.causes.gates import at_least, below, bound, known, value_of, waits
from loaderdoctor.causes.storage.reading import (
    DISK_WAITS,
    FROM_DISK,
    LARGE_REQUESTS,
    REQUEST_BYTES,
    is_on_this_machine,
)

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

_EXAMPLE = """\
np.concatenate(parts).tofile(folder / "all.raw")   # once, before the training
parts = np.fromfile(folder / "all.raw", np.uint8).reshape(len(parts), -1)"""


def treat(signals: Signals, loader: LoaderSignals) -> Treatment:
    """Fewer and larger files."""
    return Treatment(
        "Put what is read together into one file (a shard, a tar, a memory-mapped array), so that a sample takes one read.",
        bound=bound(known(loader.exposed_wait_share) * known(value_of(DISK_WAITS, signals, loader))),
        actions=(
            Action(
                "code",
                "Pack the small files of a sample, or of many samples, into one",
                site=loader.reads.reading_site or loader.reads.waiting_site,
                example=_EXAMPLE,
            ),
        ),
    )


CAUSE = Cause(
    id="small-file-latency",
    title="Reading many small pieces takes the time, not their bytes",
    applies=(is_on_this_machine,),
    gates=(waits(), at_least(DISK_WAITS, FROM_DISK), below(REQUEST_BYTES, LARGE_REQUESTS)),
    treat=treat,
    shows=(
        Signal("disk.reads_per_s", "Reads that the disk serves"),
        Signal("disk.read_bytes_per_s", "Bytes that the disk delivers"),
        Signal("loader.making.disk_bytes", "Read from the disk for a batch"),
    ),
    explains=("too-few-workers", "python-overhead", "head-of-line", "bursty-prefetch"),
)
