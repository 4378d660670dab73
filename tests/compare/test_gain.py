"""The ratio of two runs: over which steps, and how sure."""

from __future__ import annotations

import math
import random

import pytest

from loaderdoctor.analyse.signals import StepTimes
from loaderdoctor.compare.gain import BETWEEN_RUNS, pace, speedup

EPOCH = 50


def times(count=200, step_s=0.1, *, first=10, seed=1, spread=0.1, evaluations=()):
    """Steps that differ by `spread`, the first of each epoch five times as long."""
    dice = random.Random(seed)
    numbers = range((first or 0), (first or 0) + count)
    seconds = [step_s * (5 if number % EPOCH == 0 else 1) * (1 + spread * dice.uniform(-1, 1)) for number in numbers]
    kinds = tuple(int(number % EPOCH == 0) for number in numbers)
    is_training = tuple(number not in evaluations for number in numbers)
    return StepTimes(tuple(seconds), kinds, is_training, first)


@pytest.mark.parametrize(
    ("before", "after", "paired_steps"),
    [
        (times(), times(), 200),
        (times(200), times(300), 200),  # one ran longer
        (times(200, first=10), times(200, first=30), 180),  # and was warm later
        (times(200), times(60), 60),
        (times(200, first=10), times(200, first=150), 0),  # too few in common
        (times(200), times(200, evaluations=(60, 61)), 0),  # an evaluation where the other trains
        (times(200), times(200, first=35), 175),
        (times(200, first=None), times(200, first=None), 0),  # long runs are seen in stretches
    ],
)
def test_steps_are_paired_by_number_where_they_are_alike(before, after, paired_steps):
    assert speedup(before, after).paired_steps == paired_steps


@pytest.mark.parametrize("first", [10, None])
@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
def test_the_interval_holds_the_true_ratio(first, factor):
    found = speedup(times(first=first), times(step_s=0.1 / factor, seed=2, first=first)).interval
    assert found.low < factor < found.high
    assert found.best == pytest.approx(factor, rel=0.05)


def test_no_interval_is_narrower_than_two_runs_of_one_script_differ():
    found = speedup(times(spread=0.0), times(spread=0.0)).interval
    assert found.high / found.low == pytest.approx(math.exp(2 * BETWEEN_RUNS))


def test_epochs_begin_as_often_in_every_resample():
    """Else the few long steps that begin an epoch would make any interval wide."""
    seen = pace(times(spread=0.0))
    assert seen.high - seen.low < 0.01 * seen.value


def test_work_that_is_paired_makes_no_interval_wide():
    """Batches that differ by a factor of three, the same ones in both runs."""
    dice = random.Random(3)
    sizes = [dice.choice([0.1, 0.3]) for _ in range(100)]
    before, after = (
        StepTimes(tuple(size / factor for size in sizes), (0,) * 100, (True,) * 100, 10) for factor in (1, 1.5)
    )
    paired = speedup(before, after).interval
    apart = speedup(*(StepTimes(one.seconds, one.kinds, one.is_training, None) for one in (before, after))).interval
    assert paired.high / paired.low < apart.high / apart.low
