"""Replays against schedules worked out by hand, and what must hold for every schedule."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from schedules import constant, with_blocked

from loaderdoctor.predict import replay
from loaderdoctor.predict.costs import FORK_BOOT_S, FORK_S, SPAWN_STOP_S, STOP_S, STOP_WORKER_S, Knobs, turnover_s
from loaderdoctor.predict.model import run, stretch
from loaderdoctor.predict.plan import plan

TIMES = st.lists(st.floats(0.001, 0.1), min_size=10, max_size=10)


@pytest.mark.parametrize(
    ("workers", "making_s", "using_s", "total_s", "wait_s"),
    [
        (0, 0.03, 0.01, 0.40, 0.30),  # take turns
        (0, 0.00, 0.01, 0.10, 0.00),
        (1, 0.01, 0.03, 0.31, 0.01),  # hidden but for the first
        (1, 0.03, 0.01, 0.31, 0.21),  # ten times 0.03, and the last use
        (2, 0.03, 0.01, 0.17, 0.07),  # pairs at 0.03, 0.06, ...: two uses, then a wait of 0.01
        (3, 0.03, 0.01, 0.13, 0.03),  # just enough
        (8, 0.03, 0.01, 0.13, 0.03),  # no faster
    ],
)
def test_waiting_work_follows_the_schedule(workers, making_s, using_s, total_s, wait_s):
    outcome = replay(constant(workers=workers, blocked_s=making_s, compute_s=using_s), {})
    assert (outcome.total_s, outcome.wait_s) == (pytest.approx(total_s), pytest.approx(wait_s))


@pytest.mark.parametrize(
    ("workers", "cores", "making_s", "using_s", "total_s"),
    [
        (1, 8.0, 0.02, 0.01, 0.21),  # side by side
        (4, 8.0, 0.02, 0.01, 0.12),
        (1, 1.0, 0.01, 0.01, 0.20),  # one core: all the work, however it is spread
        (2, 1.0, 0.02, 0.01, 0.30),
        (4, 1.0, 0.02, 0.01, 0.30),
        (0, 0.5, 0.02, 0.01, 0.60),  # half a core by quota
    ],
)
def test_cpu_work_shares_the_cores(workers, cores, making_s, using_s, total_s):
    outcome = run(plan(constant(workers=workers, cpu_s=making_s, compute_s=using_s, cores=cores), {}))
    assert outcome.total_s == pytest.approx(total_s, abs=0.001)


def test_waiting_is_not_stretched_by_want_of_cores():
    many = replay(constant(workers=8, blocked_s=0.04, compute_s=0.01, cores=1.0), {})
    assert many.total_s == pytest.approx(0.14)


def test_what_a_crowd_took_from_the_consumer_comes_back_where_it_leaves():
    crowded = constant(workers=8, cpu_s=0.05, compute_s=0.04, cores=2.0, batches=200)
    alone = replay(crowded, {"num_workers": 1})
    assert sum(alone.steps_s) - sum(alone.waits_s) < 0.95 * sum(crowded.compute_s)


@pytest.mark.parametrize(("workers", "step_s"), [(1, 0.04), (2, 0.02), (4, 0.01), (8, 0.01), (16, 0.01)])
def test_a_disk_serves_four_readers_and_no_more(workers, step_s):
    outcome = replay(constant(workers=workers, disk_s=0.04, compute_s=0.002, batches=400), {})
    assert outcome.total_s / 400 == pytest.approx(step_s, rel=0.03)


@pytest.mark.parametrize(("prefetch", "waits"), [(1, True), (2, True), (8, False)])
def test_a_deep_queue_takes_a_burst_and_a_shallow_one_does_not(prefetch, waits):
    bursty = with_blocked(
        constant(workers=1, prefetch=prefetch, compute_s=0.01, batches=40),
        [0.06 if k % 10 == 9 else 0.002 for k in range(40)],
    )
    assert (replay(bursty, {}).wait_s > 0.05) == waits


@pytest.mark.parametrize(
    ("was", "change", "more_s"),
    [
        ({"workers": 2}, {"persistent_workers": True}, -(2 * FORK_S + STOP_S + 2 * STOP_WORKER_S)),
        ({"workers": 2, "persistent": True}, {"persistent_workers": False}, 2 * FORK_S + STOP_S + 2 * STOP_WORKER_S),
        ({"workers": 0}, {"num_workers": 2}, 4 * FORK_S + 2 * FORK_BOOT_S + STOP_S + 2 * STOP_WORKER_S),
        ({"workers": 2}, {"num_workers": 0}, -(4 * FORK_S + STOP_S + 2 * STOP_WORKER_S)),
        ({"workers": 2}, {"prefetch_factor": 8}, 0.0),
    ],
)
def test_workers_are_started_where_the_settings_say_so(was, change, more_s):
    # The work takes no time, so two epochs are their gaps and the hand-over.
    plain = constant(**was, epochs=2, epoch_overhead_s=(0.1, 0.1), compute_s=1.0, batch_bytes=0)
    gaps = [sum(replay(plain, settings).waits_s[first] for first in (0, 5)) for settings in ({}, change)]
    assert gaps[1] - gaps[0] == pytest.approx(more_s, abs=0.003)


@pytest.mark.parametrize(
    ("start", "workers", "stop_s"), [("spawn", 1, SPAWN_STOP_S), ("spawn", 4, 2 * SPAWN_STOP_S), ("forkserver", 1, 0.0)]
)
def test_a_spawned_worker_takes_its_interpreter_down_at_the_end_of_each_epoch(start, workers, stop_s):
    plain = constant(epochs=3, epoch_overhead_s=(0.0, 0.0, 0.0), cores=2)
    plain = replace(plain, settings=replace(plain.settings, start_method=start))
    knobs = Knobs.of(plain.settings, {"num_workers": workers})
    stopped_s = turnover_s(plain, knobs, 1) - turnover_s(plain, knobs, 0)  # the first epoch ends no workers
    assert stopped_s == pytest.approx(STOP_S + STOP_WORKER_S * workers + stop_s)


@pytest.mark.parametrize(
    ("ahead", "copy_s", "step_s"),
    [
        (None, 0.0, 0.020),  # the host makes the next batch while the device works
        (0, 0.0, 0.032),  # it waits for the device, then makes it
        (1, 0.005, 0.025),  # it waits for the copy, and makes it while the device computes
        (None, 0.005, 0.025),  # the copy is in the device's way, not in the host's
    ],
)
def test_a_device_hides_what_the_host_does_ahead_of_it(ahead, copy_s, step_s):
    plain = constant(blocked_s=0.01, compute_s=0.022, batches=100)
    device = replace(plain, device_s=(0.02,) * 100, host_s=(0.002,) * 100, run_ahead_steps=ahead, copy_s=copy_s)
    assert replay(device, {}).steps_s[-1] == pytest.approx(step_s, abs=0.0021)


@given(making=TIMES, using=st.floats(0.001, 0.05), workers=st.integers(0, 5), prefetch=st.integers(1, 4))
def test_no_schedule_beats_its_parts(making, using, workers, prefetch):
    plain = with_blocked(constant(workers=workers, prefetch=prefetch, compute_s=using), making)
    outcome = replay(plain, {})
    assert outcome.total_s >= max(10 * using, sum(making) / max(1, workers)) - 1e-6
    assert outcome.total_s <= sum(making) + 10 * using + 1e-6
    assert outcome.total_s == pytest.approx(outcome.wait_s + 10 * using)


@given(making=TIMES, using=st.floats(0.001, 0.05), workers=st.integers(0, 5), faster=st.floats(0.1, 1.0))
def test_faster_samples_never_make_it_slower(making, using, workers, faster):
    plain = with_blocked(constant(workers=workers, compute_s=using), making)
    quick = with_blocked(plain, [faster * seconds for seconds in making])
    assert replay(quick, {}).total_s <= replay(plain, {}).total_s + 1e-6


@given(making=st.floats(0.001, 0.1), using=st.floats(0.001, 0.05), workers=st.integers(1, 6))
def test_another_worker_never_makes_equal_waiting_batches_slower(making, using, workers):
    plain = constant(workers=1, persistent=True, blocked_s=making, compute_s=using)
    gap_s = FORK_S  # one more is forked
    more, fewer = (replay(plain, {"num_workers": count}).total_s for count in (workers + 1, workers))
    assert more <= fewer + gap_s + 1e-6


@given(
    demand=st.floats(0.1, 16),
    workers=st.integers(1, 16),
    own=st.floats(0, 1),
    neighbours=st.floats(0, 8),
    cores=st.floats(1, 8),
)
def test_cores_are_used_up_and_not_more(demand, workers, own, neighbours, cores):
    demand = min(demand, workers)
    share = demand / workers
    s = stretch(demand, workers, own, neighbours, cores)
    used = demand / (1 - share + share * s) + own / (1 - own + own * s) + neighbours / s
    assert s >= 1
    assert used == pytest.approx(min(cores, demand + own + neighbours), rel=0.02)


def test_other_jobs_take_their_part_and_no_more():
    # Two workers and the training want three cores of the two; a neighbour wants a fourth.
    busy = constant(workers=2, cpu_s=0.02, compute_s=0.01, cores=2.0, batches=200)
    alone, beside = (run(plan(replace(busy, neighbour_cores=cores), {})).total_s for cores in (0.0, 1.0))
    assert 1.1 * alone < beside < 2 * alone
