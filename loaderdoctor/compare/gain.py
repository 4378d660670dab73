"""How many times as fast one run is as another, with an interval that two equal runs would hold 1 in."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, hypot, log, sqrt
from typing import TYPE_CHECKING

from loaderdoctor.analyse import stats
from loaderdoctor.treat.gains import SPREAD, Z_95
from loaderdoctor.values import Interval

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import StepTimes
    from loaderdoctor.values import Measured

# log: steps of one run say nothing of how much the next run of the same script differs; that is known from elsewhere.
BETWEEN_RUNS = Z_95 * sqrt(2) * SPREAD
PAIRED_FROM = 0.5  # of the shorter run's steps, that both have by the same number: else too much would be left out


@dataclass(frozen=True)
class Speedup:
    """The old time over the new; `paired_steps`: over so many steps that both runs have, 0: over all that each has."""

    interval: Interval
    paired_steps: int


def speedup(before: StepTimes, after: StepTimes) -> Speedup:
    """Of two runs with training steps after warm-up."""
    old, new = _paired(before, after)
    if old is not None and new is not None:
        ratio = stats.ratio(old.seconds, new.seconds, "times", old.kinds)
        low, high = (abs(log(end / ratio.value)) for end in (ratio.low, ratio.high))
        return Speedup(_widened(ratio.value, low, high), sum(old.is_training))
    one, other = pace(before), pace(after)
    low = hypot(log(one.value / one.low), log(other.high / other.value))
    high = hypot(log(one.high / one.value), log(other.value / other.low))
    return Speedup(_widened(one.value / other.value, low, high), 0)


def pace(times: StepTimes) -> Measured:
    """Seconds after warm-up for each step of training, gaps and evaluations included."""
    return stats.ratio(times.seconds, times.is_training, "s", times.kinds)


def _widened(best: float, low: float, high: float) -> Interval:
    return Interval(best * exp(-hypot(low, BETWEEN_RUNS)), best, best * exp(hypot(high, BETWEEN_RUNS)))


def _paired(before: StepTimes, after: StepTimes) -> tuple[StepTimes | None, StepTimes | None]:
    """The steps that both have by the same number, where those are alike one by one."""
    if before.first is None or after.first is None:
        return None, None
    first = max(before.first, after.first)
    end = min(before.first + len(before.seconds), after.first + len(after.seconds))
    if end - first < PAIRED_FROM * min(len(before.seconds), len(after.seconds)):
        return None, None
    old, new = _between(before, first, end), _between(after, first, end)
    is_alike = old.is_training == new.is_training and _same_kinds(old.kinds, new.kinds)
    return (old, new) if is_alike and any(old.is_training) else (None, None)


def _between(times: StepTimes, first: int, end: int) -> StepTimes:
    assert times.first is not None  # noqa: S101 - `_paired` has looked
    part = slice(first - times.first, end - times.first)
    return type(times)(times.seconds[part], times.kinds[part], times.is_training[part], first)


def _same_kinds(old: tuple[int, ...], new: tuple[int, ...]) -> bool:
    """Loaders are numbered as they come, which is not the same where warm-up ends at another step."""
    return len(set(zip(old, new, strict=True))) == len(set(old)) == len(set(new))
