"""Each sample reads, or parses, far more of its file than it hands on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Change, Interval, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, bound, derived, known, waits
from loaderdoctor.causes.storage.reading import of_less_work
from loaderdoctor.predict import part_scaled
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

AMPLIFIED = Threshold(
    3.0, "times", "Formats need headers, checksums and text for numbers; three times as much is more than any of these."
)
MATERIAL = Threshold(
    64 << 10, "bytes", "Less is one read of a buffer: to read it takes microseconds, however little of it is used."
)
READS = Threshold(0.3, "share", "What takes less of a batch gains little when it is gone.")
LEFT_AT_MOST = 0.5  # of the reading's time: an index may have to be read, and small reads cost more by the byte
_EXAMPLE = """\
starts = np.load("starts.npy")   # where each record begins, made once
with open(path, "rb") as file:
    file.seek(starts[row])
    record = file.readline()"""


def _times_as_much(_signals: Signals, loader: LoaderSignals) -> Value:
    asked, delivered = loader.reads.asked_bytes, loader.batch_bytes
    if not isinstance(asked, Measured):
        return asked
    if not isinstance(delivered, Measured):
        return delivered
    low, best, high = (getattr(asked, end) / max(1.0, delivered.value) for end in ("low", "value", "high"))
    return Measured(best, low, high, asked.n, "times")


def _sample_bytes(_signals: Signals, loader: LoaderSignals) -> Value:
    """What is read for a sample."""
    asked, size = loader.reads.asked_bytes, loader.settings.batch_size or 1
    if not isinstance(asked, Measured):
        return asked
    return Measured(asked.value / size, asked.low / size, asked.high / size, asked.n, "bytes")


TIMES = derived("loader.batch_bytes", "Read over delivered", _times_as_much)


def treat(signals: Signals, loader: LoaderSignals) -> Treatment:
    """Only the part that is used: the reading's time falls with its bytes, at most by as much."""
    times, reading = known(_times_as_much(signals, loader), 1.0), known(loader.reads.reading_share)
    left = part_scaled(1.0, reading, Interval(1 / times, max(1 / times, 0.1), LEFT_AT_MOST))
    change = Change(work=dict.fromkeys(("cpu_s", "disk_s"), left))
    return Treatment(
        f"Read the part of the file that a sample uses: {times:.0f} times as much is read as is handed on.",
        change,
        gain=of_less_work(signals, loader, change),
        bound=bound(known(loader.exposed_wait_share) * reading),
        actions=(
            Action(
                "code",
                "Seek to the sample instead of reading all of the file: an index of offsets, a chunk a sample, or np.load(..., "
                'mmap_mode="r")',
                site=loader.reads.reading_site,
                example=_EXAMPLE,
            ),
        ),
    )


CAUSE = Cause(
    id="read-amplification",
    title="Each sample reads far more than it uses",
    gates=(
        waits(),
        at_least(TIMES, AMPLIFIED),
        at_least(derived("loader.reads.asked_bytes", "Read for a sample", _sample_bytes), MATERIAL),
        at_least(Signal("loader.reads.reading_share", "Making a batch is reading files"), READS),
    ),
    treat=treat,
    shows=(
        Signal("loader.reads.asked_bytes", "Read for a batch"),
        Signal("loader.batch_bytes", "Bytes of a batch as it is delivered"),
    ),
    explains=(*("too-few-workers", "python-overhead", "cpu-decode", "cpu-augment", "head-of-line", "bursty-prefetch"),),
)
