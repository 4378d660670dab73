"""Intervals of series whose truth is known."""

import numpy as np
import pytest

from loaderdoctor.analyse import stats


def autocorrelated(n, memory, seed):
    dice = np.random.default_rng(seed)
    values = np.empty(n)
    values[0] = dice.normal()
    for k in range(1, n):
        values[k] = memory * values[k - 1] + dice.normal()
    return values


@pytest.mark.parametrize("values", [[2.0], [2.0, 2.0], [3.0] * 500], ids=len)
def test_what_never_varies_has_an_interval_of_no_width(values):
    mean = stats.mean(values, "s")
    assert (mean.low, mean.value, mean.high, mean.n) == (values[0], values[0], values[0], len(values))


def test_a_ratio_is_that_of_the_sums_and_not_the_mean_of_ratios():
    assert stats.ratio([1, 9], [2, 10], "share").value == pytest.approx(10 / 12)


def test_equal_series_give_equal_intervals():
    values = autocorrelated(300, 0.5, 1)
    assert stats.mean(values, "s") == stats.mean(values, "s")


@pytest.mark.parametrize("memory", [0.0, 0.6, 0.9])
def test_nineteen_of_twenty_intervals_hold_the_truth(memory):
    """A little less where steps remember long: 300 steps are then few."""
    held = 0
    for seed in range(100):
        mean = stats.mean(autocorrelated(300, memory, seed), "s")
        held += mean.low <= 0 <= mean.high
    assert held >= 82


def test_ignoring_the_memory_of_steps_would_claim_too_much():
    dependent = autocorrelated(400, 0.9, 3)
    independent = np.random.default_rng(3).permutation(dependent)
    assert width(stats.mean(dependent, "s")) > 2 * width(stats.mean(independent, "s"))


def width(measured):
    return measured.high - measured.low


@pytest.mark.parametrize(("memory", "shortest", "longest"), [(0.0, 1, 4), (0.5, 3, 14), (0.9, 15, 120)])
def test_blocks_are_as_long_as_the_memory(memory, shortest, longest):
    lengths = [stats.block_length(autocorrelated(1000, memory, seed)) for seed in range(20)]
    assert shortest <= np.median(lengths) <= longest


def test_a_long_series_gives_the_interval_of_a_short_one_of_the_same_kind():
    """Adding up stretches must not change what the interval means: it shrinks with the root of the length."""
    short = width(stats.mean(autocorrelated(2_000, 0.5, 5), "s"))
    long = width(stats.mean(autocorrelated(50_000, 0.5, 5), "s"))
    assert short / long == pytest.approx(5, rel=0.5)


def test_kinds_of_steps_keep_their_number_in_each_resample():
    waits = np.array(([0.0] * 9 + [1.0]) * 10)
    mixed, by_kind = stats.mean(waits, "s"), stats.ratio(waits, np.ones(100), "s", kinds=waits)
    assert width(mixed) > 0.05
    assert width(by_kind) == 0


@pytest.mark.parametrize(("values", "middle"), [([5.0], 5.0), ([1, 2, 9], 2.0), ([4, 4, 4, 100], 4.0)])
def test_medians(values, middle):
    median = stats.median(values, "s")
    assert median.value == middle
    assert median.low <= middle <= median.high


def test_a_median_narrows_with_more_values():
    dice = np.random.default_rng(0)
    few, many = (stats.median(dice.normal(size=n), "s") for n in (50, 5000))
    assert width(many) < width(few) / 4
