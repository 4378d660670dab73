"""The same archive, database or decoder is opened again for every sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Change, Interval, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, bound, known, waits
from loaderdoctor.causes.storage.reading import of_less_work
from loaderdoctor.predict import part_scaled

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

OPENS = Threshold(0.25, "share", "What takes less of a batch gains little when it is gone.")
LEFT_AT_MOST = 0.1  # of the opening's time: each worker still opens once
_EXAMPLE = """\
def __getitem__(self, index):
    if self.handle is None:   # once in each worker, after it was started
        self.handle = {call}(...)
    return self.handle ..."""


def treat(signals: Signals, loader: LoaderSignals) -> Treatment:
    """Open once in each worker."""
    reads = loader.reads
    left = part_scaled(1.0, known(reads.opening_share), Interval(0.0, LEFT_AT_MOST / 2, LEFT_AT_MOST))
    change = Change(work=dict.fromkeys(("cpu_s", "disk_s", "blocked_s"), left))
    return Treatment(
        f"Call {reads.opening_call} once in each worker and keep what it opens: it is the same for every sample.",
        change,
        gain=of_less_work(signals, loader, change),
        bound=bound(known(loader.exposed_wait_share) * known(reads.opening_share)),
        actions=(
            Action(
                "code",
                f"Open at the first sample, not at each ({reads.opening_call})",
                site=reads.opening_site,
                example=_EXAMPLE.format(call=reads.opening_call),
            ),
        ),
    )


CAUSE = Cause(
    id="handle-reopen",
    title="The same file is opened again for every sample",
    gates=(
        waits(),
        at_least(Signal("loader.reads.opening_share", "Making a batch is opening what was open before"), OPENS),
    ),
    treat=treat,
    shows=(
        Signal("loader.sample_s", "A sample takes"),
        Signal("loader.reads.asked_bytes", "Read for a batch"),
        Signal("loader.batch_bytes", "Bytes of a batch as it is delivered"),
    ),
    explains=(
        *("too-few-workers", "read-amplification", "small-file-latency", "storage-bandwidth"),
        *("python-overhead", "cpu-decode", "cpu-augment", "head-of-line", "bursty-prefetch"),
    ),
)
