"""What collections cost, by comparing what had one with what had none."""

from __future__ import annotations

import pandas as pd
import pytest

from loaderdoctor.analyse.garbage import share_of_collections
from loaderdoctor.values import Measured, Missing


def told(counts, times):
    return share_of_collections(pd.Series(counts, dtype=float), pd.Series(times, dtype=float), float(sum(times)))


def test_the_excess_of_what_had_one():
    value = told([0, 0, 0, 1] * 8, [10, 10, 10, 50] * 8)
    assert (value.value, value.n) == (pytest.approx(40 / 80), 8)
    assert value.low <= value.value <= value.high


def test_more_collections_take_longer():
    assert told([1, 2] * 8, [20, 30] * 8).value == pytest.approx(15 / 25)


def test_collections_that_cost_nothing():
    value = told([0, 1] * 10, [10.0, 9.9] * 10)
    assert (value.value, value.low) == (0, 0)


def test_a_few_may_be_slow_by_chance():
    value = told([0] * 20 + [1], [10] * 20 + [90])
    assert (isinstance(value, Measured), value.value) == (True, 0)


@pytest.mark.parametrize(
    ("counts", "slug"), [([2] * 20, "always-collected"), ([float("nan")] * 20, "not-recorded"), ([], "not-recorded")]
)
def test_what_cannot_be_told(counts, slug):
    value = told(counts, [10] * len(counts))
    assert (isinstance(value, Missing), value.slug) == (True, slug)
