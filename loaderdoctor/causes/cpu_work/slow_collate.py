"""Putting the samples together to a batch takes longer than making them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Cause, Evidence, Interval, Threshold, Treatment
from loaderdoctor.causes.cpu_work.cures import AT_WORK, BUSY, COMPUTED, COMPUTING, less_work
from loaderdoctor.causes.gates import at_least, derived, waits
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

MOST_OF_IT = Threshold(0.4, "share", "Two fifths of making a batch are more than any copy of its samples takes.")
LEFT = Interval(0.05, 0.2, 0.5)  # one array made beforehand and filled by slices, instead of element by element
DEFAULT = "torch.utils.data._utils.collate."
ADVICE = (
    "Make the batch's arrays once, at their final size, and write each sample into them by a slice; sort or bucket by length so "
    "that little is padded."
)
EXAMPLE = """\
lengths = [len(sample) for sample in samples]
batch = torch.zeros(len(samples), max(lengths), width)
for row, sample in enumerate(samples):
    batch[row, :lengths[row]] = torch.as_tensor(sample)  # a slice, not a loop over its elements"""


def has_its_own(_signals: Signals, loader: LoaderSignals) -> str | None:
    """Torch's own stacks what it is given: how many samples that are, and how they are fetched, is another question."""
    if loader.settings.collate.startswith(DEFAULT):
        return "The samples are put together by torch's own default_collate, which is no slower than their number makes it."
    return None


def collating(_signals: Signals, loader: LoaderSignals) -> Value:
    """Putting samples together, of the time of making a batch."""
    collate, whole = loader.collate_s, loader.fetch_s
    if not isinstance(collate, Measured) or not isinstance(whole, Measured) or whole.value <= 0:
        return collate
    low, best, high = (min(1.0, end / whole.value) for end in (collate.low, collate.value, collate.high))
    return Measured(best, low, high, collate.n, "share")


COLLATING = derived("loader.collate_s", "Putting samples together, of the time of making a batch", collating)


def treat(signals: Signals, loader: LoaderSignals) -> Treatment | tuple[Evidence, ...]:
    """Arrays that are filled by slices, at the place that fills them."""
    what = ADVICE, loader.code.place("collate"), EXAMPLE
    return less_work(signals, loader, collating(signals, loader), LEFT, what)


CAUSE = Cause(
    id="slow-collate",
    title="Putting samples together to a batch takes the time",
    applies=(has_its_own,),
    gates=(waits(), at_least(COLLATING, MOST_OF_IT), at_least(BUSY, AT_WORK), at_least(COMPUTING, COMPUTED)),
    treat=treat,
    explains=("python-overhead",),
)
