"""Only the first pass over the data is slow: what it reads or makes is kept, and later ones find it in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import EXPOSED_WAIT, STARVES, at_least, below, bound, derived, known, waits
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

SLOWER = Threshold(
    2.0, "times", "Passes differ by their order and by other jobs; twice as long is another kind of work."
)
FIRST = Threshold(0.8, "share", "Where later passes wait as well, something else is slow in all of them.")


def _slower(_signals: Signals, loader: LoaderSignals) -> Value:
    first, later = loader.passes.first_made_s, loader.passes.later_made_s
    if not isinstance(first, Measured):
        return first
    if not isinstance(later, Measured) or later.value <= 0:
        return later
    low, best, high = (getattr(first, end) / later.value for end in ("low", "value", "high"))
    return Measured(best, low, high, first.n, "times")


def _waits_later(_signals: Signals, loader: LoaderSignals) -> Value:
    """Waiting in the passes after the first, of all the time after warm-up."""
    wait, first = loader.exposed_wait_share, loader.passes.first_wait_share
    if not isinstance(wait, Measured):
        return wait
    if not isinstance(first, Measured):
        return first
    share = wait.value * (1 - first.value)
    return Measured(share, share, share, wait.n, "share")


def treat(_signals: Signals, loader: LoaderSignals) -> Treatment:
    """The first pass earlier, or nothing: it happens once."""
    saved = known(loader.exposed_wait_share) * known(loader.passes.first_wait_share)
    from_disk = known(loader.passes.first_from_disk) >= FIRST.value
    what = "what it reads is in memory afterwards" if from_disk else "what it makes is kept afterwards"
    return Treatment(
        f"Nothing for a long training: only the first pass over the data waits, since {what}. To have it sooner, fill the cache "
        "before the training starts, and measure on later epochs.",
        bound=bound(saved),
        actions=(
            Action(
                "system" if from_disk else "code",
                "Read the data once before the training starts",
                site=None if from_disk else loader.site,
                example="cat data/* > /dev/null"
                if from_disk
                else "for _ in DataLoader(dataset, batch_size=None): pass",
            ),
        ),
        doubts=("The longer the training, the smaller the part of its first pass.",),
    )


CAUSE = Cause(
    id="cold-page-cache",
    title="Only the first pass over the data is slow",
    gates=(
        waits(),
        at_least(
            derived("loader.passes.first_made_s", "A batch of the first pass over one of later ones", _slower), SLOWER
        ),
        at_least(Signal("loader.passes.first_wait_share", "Of the waits, those in the first pass"), FIRST),
        below(derived("loader.exposed_wait_share", "Waiting in later passes, of the time", _waits_later), STARVES),
    ),
    treat=treat,
    shows=(
        Signal("loader.passes.first_from_disk", "Read from the disk in the first pass"),
        Signal("loader.passes.later_from_disk", "Read from the disk in later ones"),
    ),
    slice=EXPOSED_WAIT,
    explains=(
        *(
            "no-workers",
            "too-few-workers",
            "storage-bandwidth",
            "small-file-latency",
            "remote-latency",
            "read-amplification",
        ),
        *("handle-reopen", "cpu-decode", "oversized-decode", "cpu-augment", "audio-on-the-fly", "python-overhead"),
        *("tokenize-on-the-fly", "head-of-line", "bursty-prefetch", "page-cache-overflow"),
    ),
)
