"""Choosing the indices of a batch takes the time, in the training process, inside next() or before an epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor import predict
from loaderdoctor.causes.base import Action, Cause, Change, Interval, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, known, waits
from loaderdoctor.causes.order.gaps import gap_part

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

CHOOSING = Threshold(0.03, "share", "Less gains less than two runs of one script differ by.")
OF_WAIT = Threshold(
    0.2, "share", "Where choosing indices is less of the waiting, something else is what is waited for."
)
LEFT = Interval(0.0, 0.05, 0.2)  # of the time, where indices are chosen ahead: handing out slices of an array
_AHEAD = (
    "Choose ahead and all at once: compute neighbours, groups or weights once, draw an epoch's indices with one call of numpy or "
    "torch, and hand out slices of that array."
)
_LISTS = "A permutation of this many samples as a Python list is slow and large: keep it as an array, or draw with replacement."
_WEIGHTS = (
    "Draw with replacement from cumulative weights; without it, torch.multinomial looks at every weight for every draw."
)
_OF_TORCH = {"RandomSampler": _LISTS, "DistributedSampler": _LISTS, "WeightedRandomSampler": _WEIGHTS}
_EXAMPLE = "def __iter__(self):\n    order = self.generator.permutation(self.count)  # numpy, once an epoch\n    for k in range(0, self.count, self.size):\n        yield order[k : k + self.size]"


def treat(_signals: Signals, loader: LoaderSignals) -> Treatment:
    """Indices that are there already cost next to nothing."""
    workload = loader.workload
    gaps_s = sum(workload.epoch_overhead_s) if workload else 0.0
    whole_gaps_s = known(loader.first_batch_gap_s) * loader.epochs
    before_s = (
        known(loader.order.gap_choose_share) * whole_gaps_s if gap_part(loader, loader.order.gap_choose_share) else 0.0
    )
    work = {"choose_s": LEFT}
    if before_s > 0 and gaps_s > 0:
        work["epoch_overhead_s"] = predict.part_scaled(gaps_s, before_s, LEFT)
    sampler = loader.settings.sampler.rpartition(".")[2]
    advice = _OF_TORCH.get(sampler, _AHEAD)
    text = f"{advice} The sampler is {loader.settings.sampler}." if loader.settings.sampler else advice
    return Treatment(advice, Change(work=work), actions=(Action("code", text, site=loader.site, example=_EXAMPLE),))


CAUSE = Cause(
    id="sampler-cost",
    title="Choosing the indices of a batch takes the time",
    gates=(
        waits(),
        at_least(Signal("loader.order.sampler_share", "Choosing indices, of the time"), CHOOSING),
        at_least(Signal("loader.order.sampler_of_wait", "Choosing indices, of the waiting for this loader"), OF_WAIT),
    ),
    treat=treat,
    shows=(Signal("loader.sampler_s", "Choosing the indices of a batch"),),
    slice=Signal("loader.order.sampler_share", "Choosing indices, of the time"),
    explains=("too-few-workers",),
)
