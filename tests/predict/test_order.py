"""Batches out of order, streams of few workers, workers and loaders that stay, and work at the start of a pass."""

from __future__ import annotations

from dataclasses import replace

import pytest
from schedules import constant

from loaderdoctor.predict import Change, replay, speedup
from loaderdoctor.predict.change import BEFORE_FIRST, BUFFER, REBUILT, SHARDS

EPOCHS, STEPS = 10, 20


def with_slow(every, slow_s, **more):
    """Batches of 1 ms and now and then a slow one."""
    plain = constant(**{"blocked_s": 0.001, "compute_s": 0.01, "batches": 200, "workers": 4, **more})
    batches = tuple(
        replace(batch, blocked_s=slow_s) if k % every == every // 2 else batch for k, batch in enumerate(plain.batches)
    )
    return replace(plain, batches=batches)


def in_epochs(*, first_s=0.001, kind="map", **more):
    """Ten epochs of two workers; each worker's first batch takes `first_s`, others 1 ms."""
    plain = constant(blocked_s=0.001, compute_s=0.01, batches=EPOCHS * STEPS, epochs=EPOCHS, workers=2, wait_s=0.0)
    batches = tuple(replace(batch, blocked_s=first_s) if batch.ordinal < 2 else batch for batch in plain.batches)
    settings = replace(plain.settings, dataset_kind=kind, persistent_workers=False)
    return replace(plain, batches=batches, settings=settings, measured_from=STEPS, **more)


def test_out_of_order_a_slow_batch_is_made_while_others_are_used():
    slow = with_slow(25, 0.2)
    ordered, free = (replay(slow, {"in_order": order}) for order in (True, False))
    assert free.total_s < 0.8 * ordered.total_s
    assert free.total_s == pytest.approx(200 * 0.0105, rel=0.1)


def test_the_order_of_equal_batches_costs_nothing():
    even = constant(blocked_s=0.03, compute_s=0.01, batches=100, workers=2)
    assert replay(even, {"in_order": False}).total_s == pytest.approx(replay(even, {}).total_s, rel=0.02)


def test_one_worker_has_no_other_order():
    slow = with_slow(25, 0.2, workers=1)
    assert replay(slow, {"in_order": False}).total_s == pytest.approx(replay(slow, {}).total_s)


def test_every_batch_is_taken_once_in_any_order():
    outcome = replay(with_slow(7, 0.1), {"in_order": False})
    assert len(outcome.steps_s) == 200
    assert outcome.total_s == pytest.approx(sum(outcome.steps_s))


def test_a_slow_worker_of_a_stream_makes_its_own_part_in_any_order():
    plain = constant(blocked_s=0.001, compute_s=0.01, batches=100, workers=2)
    mine = tuple(replace(batch, worker=k % 2, blocked_s=0.05 * (k % 2)) for k, batch in enumerate(plain.batches))
    stream = replace(plain, batches=mine, settings=replace(plain.settings, dataset_kind="iterable"))
    shared = replace(stream, settings=plain.settings)
    own_part_s = 50 * 0.05
    assert replay(stream, {"in_order": False}).total_s == pytest.approx(own_part_s, rel=0.05)
    assert replay(shared, {"in_order": False}).total_s < 0.75 * own_part_s


@pytest.mark.parametrize("workers", [3, 6, 12])
def test_more_workers_than_a_stream_has_work_for_make_it_no_faster(workers):
    two = replace(constant(blocked_s=0.06, compute_s=0.01, batches=100, workers=6), streams=2)
    assert replay(two, {"num_workers": workers}).total_s == pytest.approx(replay(two, {}).total_s)
    assert speedup(two, Change(lifts=(SHARDS,))).best > 2.5


def test_a_setting_keeps_no_worker_of_a_loader_that_is_built_anew():
    anew = in_epochs(epoch_overhead_s=(0.2,) * EPOCHS, restart_s=0.19, rebuilt=True)
    assert speedup(anew, Change({"persistent_workers": True})).best == pytest.approx(1.0)
    once = speedup(anew, Change(lifts=(REBUILT,))).best
    same = speedup(replace(anew, rebuilt=False), Change({"persistent_workers": True})).best
    assert once == pytest.approx(same)
    assert once == pytest.approx((0.2 + STEPS * 0.0105) / (0.01 + STEPS * 0.0105), rel=0.05)


def test_what_a_worker_does_once_is_done_once_where_it_stays():
    slow_first = in_epochs(first_s=0.2)
    kept = Change({"persistent_workers": True})
    assert speedup(slow_first, kept).best > 1.5
    of_a_stream = replace(slow_first, settings=replace(slow_first.settings, dataset_kind="iterable"))
    assert speedup(of_a_stream, kept).best < 1.2
    assert speedup(of_a_stream, Change(lifts=(BEFORE_FIRST,))).best > 1.5


def test_a_buffer_that_fills_while_it_is_used_spreads_the_work():
    stream = in_epochs(first_s=0.2, kind="iterable")
    spread = speedup(stream, Change(lifts=(BUFFER,))).best
    assert spread > 1.5
    assert spread < speedup(stream, Change(lifts=(BEFORE_FIRST,))).best * 1.2


@pytest.mark.parametrize("workers", [0, 2])
def test_choosing_indices_takes_the_consumers_time_with_and_without_workers(workers):
    plain = constant(blocked_s=0.001, compute_s=0.01, batches=100, workers=workers)
    choosing = replace(plain, batches=tuple(replace(batch, choose_s=0.01) for batch in plain.batches))
    more_s = replay(choosing, {}).total_s - replay(plain, {}).total_s
    assert more_s == pytest.approx(100 * 0.01, rel=0.05)
    assert replay(choosing, {}).wait_s - replay(plain, {}).wait_s == pytest.approx(more_s, rel=0.05)
