"""Transforms of each sample on the CPU take longer than everything else that makes a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import CHANGES_RESULTS, Cause, Evidence, Interval, Threshold, Treatment
from loaderdoctor.causes.cpu_work.cures import AT_WORK, BUSY, COMPUTED, COMPUTING, MAIN_PART, less_work
from loaderdoctor.causes.cpu_work.oversized_decode import LARGE
from loaderdoctor.causes.gates import at_least, derived, known, waits
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import CodeSignals, LoaderSignals, Signals
    from loaderdoctor.values import Value

LEFT = Interval(
    0.1, 0.4, 0.7
)  # batches of transforms take less than the sum of them, and the device has to take its part
BESIDE = Threshold(
    0.1, "share", "A tenth of the work in transforms that have a name says what the code around them is for."
)
ALONE = Threshold(0.5, "share", "Without a name that says what it is, it has to be most of what takes the time.")
ADVICE = (
    "Transform whole batches instead of samples, on the device where it has time left; do what is not random once and store "
    "it; use cheaper operations (bilinear instead of bicubic, uint8 instead of float) for the rest."
)
EXAMPLE = """\
# in the training loop, for all images of the batch at once:
images = images.to(device, non_blocking=True).float().div_(255)
images = augment(images)  # torchvision.transforms.v2 and kornia take batches on the device"""


def _are_transforms(code: CodeSignals, named: float) -> bool:
    """Whether compiled calls in the script's own code are transforms, as far as that can be told.

    One piece of code is loops or arrays, for its largest part.  Beside transforms that have a name, it is part of them; alone it
    may as well be strings that are split, so it must be most of the work.
    """
    array = known(code.array_share)
    return array > known(code.python_share) and (named >= BESIDE.value or array >= ALONE.value)


def _transforms(_signals: Signals, loader: LoaderSignals) -> Value:
    """Known transforms, and arrays computed in the script's own code; shrinking what was decoded too large is no transform."""
    code = loader.code
    is_oversized = known(code.oversize) >= LARGE.value
    named = [code.transform_share, *([] if is_oversized else [code.resize_share])]
    parts = [part for part in named if isinstance(part, Measured)]
    if len(parts) < len(named):
        return code.transform_share
    if isinstance(code.array_share, Measured):
        parts += [code.array_share] if _are_transforms(code, sum(part.value for part in parts)) else []
    elif sum(part.value for part in parts) < MAIN_PART.value:
        return code.array_share
    low, best, high = (min(1.0, sum(getattr(part, end) for part in parts)) for end in ("low", "value", "high"))
    return Measured(best, low, high, parts[0].n, parts[0].unit)


TRANSFORMS = derived(
    "loader.code.transform_share", "Transforming samples, of the CPU time of making a batch", _transforms
)


def treat(signals: Signals, loader: LoaderSignals) -> Treatment | tuple[Evidence, ...]:
    """Transforms in batches, at the hottest place."""
    what = ADVICE, loader.code.place("transform", "resize", "own"), EXAMPLE
    treatment = less_work(signals, loader, _transforms(signals, loader), LEFT, what)
    if not isinstance(treatment, Treatment):
        return treatment
    return Treatment(
        treatment.advice, treatment.change, actions=treatment.actions, safety=CHANGES_RESULTS, shows=treatment.shows
    )


CAUSE = Cause(
    id="cpu-augment",
    title="Transforms of each sample take the CPUs that make the batches",
    gates=(waits(), at_least(TRANSFORMS, MAIN_PART), at_least(BUSY, AT_WORK), at_least(COMPUTING, COMPUTED)),
    treat=treat,
)
