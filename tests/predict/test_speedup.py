"""Speed-ups: their best value, what widens their interval, and the number of workers to prescribe."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st
from schedules import constant, with_blocked

from loaderdoctor.predict import Change, fewest_workers, memory_bytes, recorded_s, speedup
from loaderdoctor.predict.costs import FORKED_BYTES, SPAWNED_BYTES
from loaderdoctor.predict.speedup import NOISE


def starving(**more):
    """A batch takes three times as long to make as to use, in the training process."""
    return constant(**{"blocked_s": 0.03, "compute_s": 0.01, "wait_s": 0.03, "batches": 200, **more})


def width(interval):
    return interval.high / interval.low


@pytest.mark.parametrize(
    ("settings", "best"),
    [({}, 1.0), ({"num_workers": 1}, 4 / 3), ({"num_workers": 2}, 8 / 3), ({"num_workers": 4}, 4.0)],
)
def test_the_speedup_is_old_time_over_new(settings, best):
    assert speedup(starving(batch_bytes=0), Change(settings)).best == pytest.approx(
        best, rel=0.1
    )  # start and hand-over


def test_no_change_is_no_change_but_for_noise():
    same = speedup(starving(), Change({"num_workers": 0}))
    assert (same.low, same.best, same.high) == pytest.approx((exp(-NOISE), 1, exp(NOISE)))


@pytest.mark.parametrize(("other_s", "best"), [(0.0, 4.0), (8.0, 1.6), (1e6, 1.0)])
def test_time_outside_the_loader_dilutes_it(other_s, best):
    assert speedup(starving(batch_bytes=0), Change({"num_workers": 4}), other_s).best == pytest.approx(best, rel=0.1)


def test_a_replay_that_misses_the_run_itself_is_trusted_less():
    odd = starving(wait_s=0.06)  # waits twice as long as the work accounts for
    assert width(speedup(odd, Change({"num_workers": 4}))) > width(speedup(starving(), Change({"num_workers": 4})))


def test_with_busy_neighbours_the_interval_reaches_to_a_run_without_them():
    plain = constant(cpu_s=0.03, compute_s=0.03, wait_s=0.03, cores=2.0, batches=200)
    beside, alone = (speedup(replace(plain, neighbour_cores=cores), Change({"num_workers": 2})) for cores in (1.0, 0.0))
    assert beside.best < alone.best < beside.high


def test_neighbours_do_not_raise_the_number_of_workers():
    plain = constant(cpu_s=0.03, compute_s=0.03, cores=2.0, batches=200)
    assert fewest_workers(replace(plain, neighbour_cores=1.5)) == fewest_workers(plain)


def test_uneven_runs_are_trusted_less():
    making = [0.002] * 150 + [0.114] * 50
    uneven = replace(with_blocked(starving(), making), waits_s=tuple(making))
    assert recorded_s(uneven) == pytest.approx(recorded_s(starving()))
    assert width(speedup(uneven, Change({"num_workers": 1}))) > width(speedup(starving(), Change({"num_workers": 1})))


@given(settings=st.fixed_dictionaries({"num_workers": st.integers(0, 6), "pin_memory": st.booleans()}))
def test_the_best_value_lies_within_its_interval(settings):
    interval = speedup(
        replace(starving(batches=40), copy_s=0.01, device_s=(0.01,) * 40, host_s=(0.001,) * 40), Change(settings)
    )
    assert interval.low <= interval.best <= interval.high


@pytest.mark.parametrize(
    ("making_s", "cpu_s", "using_s", "cores", "fewest"),
    [
        (0.030, 0.000, 0.010, 2.0, 4),  # three would just do
        (0.005, 0.000, 0.010, 2.0, 1),
        (0.100, 0.000, 0.010, 2.0, 11),  # waiting may take more than there are cores
        (0.000, 0.030, 0.030, 2.0, 1),  # the training has one core, and one is left
        (0.000, 0.300, 0.001, 2.0, 2),  # computing may not
        (0.000, 0.300, 0.001, 8.0, 7),  # when all cores are wanted, nobody gets all of them
    ],
)
def test_the_fewest_workers_that_do_have_some_headroom(making_s, cpu_s, using_s, cores, fewest):
    plain = constant(blocked_s=making_s, cpu_s=cpu_s, compute_s=using_s, cores=cores, batches=200, batch_bytes=0)
    assert fewest_workers(plain) == fewest


@pytest.mark.parametrize(("threads", "least"), [(1.0, 1.05), (2.0, 0.0)])
def test_a_training_on_all_cores_leaves_none_for_workers(threads, least):
    """Of batches that take as long to make as to use: one worker gains, unless the training computes on both cores."""
    plain = constant(workers=0, cpu_s=0.008, compute_s=0.0094, cores=2.0, batches=200, batch_bytes=0)
    gain = speedup(replace(plain, compute_cpu_share=threads, waits_s=(0.008,) * 200), Change({"num_workers": 1}))
    assert (gain.low >= least) if least else (gain.best < 1.0 < gain.high)


def test_no_more_workers_than_the_cap():
    assert fewest_workers(constant(blocked_s=0.1, compute_s=0.01, batches=100), cap=3) == 3


@pytest.mark.parametrize(
    ("change", "price"),
    [
        ({"num_workers": 0}, 0),
        ({"num_workers": 1}, 100 + 2 * 10),
        ({"num_workers": 4, "prefetch_factor": 8}, 4 * 100 + 32 * 10),
        ({"num_workers": 4, "pin_memory": True}, 4 * 100 + 2 * 8 * 10),
    ],
)
def test_the_price_is_workers_and_the_batches_they_hold(change, price):
    assert memory_bytes(constant(batch_bytes=10, worker_rss_bytes=100), change) == price


def test_the_price_of_workers_that_never_ran_is_that_of_plain_ones():
    plain = constant(batch_bytes=0, worker_rss_bytes=None)
    assert memory_bytes(plain, {"num_workers": 2}) == 2 * FORKED_BYTES
    assert memory_bytes(plain, {"num_workers": 2, "multiprocessing_context": "spawn"}) == 2 * SPAWNED_BYTES
    assert memory_bytes(replace(plain, batch_bytes=None), {"num_workers": 2}) is None
