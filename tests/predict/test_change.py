"""Changes: what scaled work gains, how uncertain factors widen the interval, and what several make together."""

from __future__ import annotations

import pytest
from schedules import constant

from loaderdoctor.predict import Change, joined, part_scaled, speedup
from loaderdoctor.values import Interval

HALF = Interval(0.5, 0.5, 0.5)


def starving(**more):
    return constant(**{"cpu_s": 0.03, "compute_s": 0.01, "wait_s": 0.03, "batches": 200, **more})


@pytest.mark.parametrize(("left", "faster"), [(1.0, 1.0), (0.5, 40 / 25), (0.0, 4.0)])
def test_less_work_is_replayed(left, faster):
    change = Change(work={"cpu_s": Interval(left, left, left)})
    assert speedup(starving(), change).best == pytest.approx(faster, rel=0.02)


def test_a_factor_that_is_not_known_to_the_point_widens_the_interval():
    sure, unsure = (speedup(starving(), Change(work={"cpu_s": factor})) for factor in (HALF, Interval(0.2, 0.5, 0.9)))
    assert unsure.low < sure.low < sure.high < unsure.high
    assert unsure.best == sure.best


@pytest.mark.parametrize(
    ("whole", "part", "left", "factor"), [(10, 5, 0.5, 0.75), (10, 20, 0.5, 0.5), (0, 1, 0.5, 1.0)]
)
def test_a_scaled_part_scales_the_whole_by_its_share(whole, part, left, factor):
    assert part_scaled(whole, part, Interval(left, left, left)).best == pytest.approx(factor)


def test_several_changes_make_one():
    both = joined([Change({"num_workers": 4}, {"cpu_s": HALF}), Change({"num_workers": 2}, {"cpu_s": HALF})])
    assert both == Change({"num_workers": 4}, {"cpu_s": Interval(0.25, 0.25, 0.25)})


def test_shorter_gaps_and_less_training_count_too():
    gaps = starving(epochs=10, epoch_overhead_s=(1.0,) * 10)
    assert speedup(gaps, Change(work={"epoch_overhead_s": HALF})).best > 1.3
    assert speedup(starving(), Change(work={"compute_s": HALF})).best == pytest.approx(40 / 35, rel=0.02)
