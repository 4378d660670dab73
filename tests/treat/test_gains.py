"""The interval of a measured speed-up: what is known of equal runs, mixed with what these runs say."""

from __future__ import annotations

import random
from math import exp

import pytest

from loaderdoctor.treat.gains import SPREAD, Pace, is_narrow, speedup_of


def paces(*step_ms):
    return [Pace(ms / 10, 100) for ms in step_ms]


@pytest.mark.parametrize(
    ("before", "after", "best"),
    [
        ((20, 20), (10, 10), 2.0),
        ((10,), (10,), 1.0),
        ((10, 10), (20, 20), 0.5),
        ((20, 45), (10, 10), 3.0),  # geometric: 30 over 10
    ],
)
def test_a_speed_up_is_the_old_step_over_the_new(before, after, best):
    found = speedup_of(paces(*before), paces(*after))
    assert found.value == pytest.approx(best)
    assert found.low < best < found.high
    assert found.n == len(before) + len(after)


def test_steps_count_not_seconds():
    assert speedup_of([Pace(10, 100)], [Pace(10, 200)]).value == pytest.approx(2)


def width(before, after):
    found = speedup_of(paces(*before), paces(*after))
    return found.high / found.low


def test_equal_runs_are_no_certainty_and_more_of_them_are_more():
    assert width((20,), (10,)) > width((20, 20), (10, 10)) > width((20, 20, 20), (10, 10, 10)) > 1 + SPREAD


def test_runs_that_differ_widen_the_interval():
    assert width((20, 24), (10, 12)) > width((20, 20), (10, 10))


@pytest.mark.parametrize(
    ("before", "after", "narrow"),
    [
        ((20,), (20,), False),
        ((20, 20), (20, 20), True),
        ((20, 20), (10, 10), True),
        ((20, 24), (20, 20), False),
        ((60, 66), (20, 20.5), True),  # of a threefold gain, a tenth of it is close enough
    ],
)
def test_no_more_runs_than_tell_anything(before, after, narrow):
    assert is_narrow(speedup_of(paces(*before), paces(*after))) is narrow


@pytest.mark.parametrize("spread", [SPREAD / 2, SPREAD, 2 * SPREAD])
@pytest.mark.parametrize("runs", [2, 3, 6])
def test_the_interval_holds_the_truth_as_often_as_it_says(runs, spread):
    dice, held = random.Random(runs), 0
    for _ in range(1000):
        before, after = (paces(*(exp(dice.gauss(0, spread)) * ms for _ in range(runs))) for ms in (20, 10))
        found = speedup_of(before, after)
        held += found.low <= 2 <= found.high
    # On a machine twice as noisy as those known, the first pairs have not shown that yet.
    assert held / 1000 > (0.8 if spread > SPREAD else 0.93)
