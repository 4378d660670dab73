"""What the device noticed of the waits."""

from math import isnan, nan

import builders
import pandas as pd
import pytest

from loaderdoctor.analyse import signals_of
from loaderdoctor.analyse.exposure import Lag, as_nearest

STEPS = 40
DRAWING = "[" + "wwwc" * STEPS  # steps of 40 ms, waits of 30 ms on the host's clock


def on_device(waits_s, copy_s=0.0, step_s=0.04, **options):
    device = [(wait_s, copy_s, step_s) for wait_s in waits_s]
    return signals_of(builders.run_from(DRAWING, device=device, **options))


@pytest.mark.parametrize(
    ("wait_s", "copy_s", "share", "hidden"),
    [
        (0.0, 0.0, 0.0, 0.75),
        (0.03, 0.0, 0.75, 0.0),
        (0.01, 0.0, 0.25, 0.5),
        (0.0, 0.01, 0.25, 0.75),
        (0.01, 0.02, 0.75, 0.5),
    ],
    ids=["hidden", "exposed", "partly", "copies", "both"],
)
def test_the_device_clock_decides(wait_s, copy_s, share, hidden):
    signals = on_device([wait_s] * STEPS, copy_s)
    assert signals.clock == signals.device.clock == "device"
    assert signals.starved_share.value == pytest.approx(share)
    assert signals.device.hidden_wait_share.value == pytest.approx(hidden)
    assert signals.device.copy_share.value == pytest.approx(copy_s / 0.04)
    assert signals.steps.data_wait_share.value == pytest.approx(wait_s / 0.04)
    assert signals.steps.h2d_share.value == pytest.approx(copy_s / 0.04)
    assert signals.steps.compute_share.value == pytest.approx(1 - share)
    assert signals.main.wait_s.value == pytest.approx(36 * 0.03)
    assert signals.main.exposed_wait_s.value == pytest.approx(36 * wait_s)


def test_without_a_device_the_wait_is_what_the_host_sees():
    signals = signals_of(builders.run_from(DRAWING))
    assert (signals.clock, signals.device.kind) == ("host", "cpu")
    assert signals.starved_share.value == pytest.approx(0.75)
    assert signals.device.hidden_wait_share.slug == "no-device"
    assert signals.steps.h2d_share.value == 0


def test_a_clock_that_broke_off_early_is_not_believed():
    signals = on_device([0.0] * 10)
    assert signals.clock == "host"
    assert signals.starved_share.value == pytest.approx(0.75)
    assert signals.device.hidden_wait_share.slug == "no-device-clock"
    assert signals.steps.h2d_share.slug == "no-device-clock"


@pytest.mark.parametrize("every", [2, 4])
def test_steps_between_two_measured_ones_are_like_them(every):
    signals = on_device([0.01] * STEPS, device_every=every)
    assert signals.clock == "device"
    assert signals.starved_share.value == pytest.approx(0.25)


def test_copies_and_syncs_that_were_not_heard_are_like_those_that_were():
    signals = on_device([0.01] * STEPS, 0.008, device_heard_every=4, device_sync_s=0.006)
    assert signals.device.copy_share.value == pytest.approx(0.2)
    assert signals.starved_share.value == pytest.approx(0.45)
    assert signals.device.syncs_per_step.value == 1
    assert signals.device.sync_share.value == pytest.approx(0.006 / 0.04)
    assert signals.main.workload.host_s == pytest.approx((0.004,) * STEPS)


def test_the_clocks_own_bounds_widen_the_interval():
    share = on_device([0.01] * STEPS, device_noise_s=0.002).starved_share
    assert (share.low, share.value, share.high) == pytest.approx((0.2, 0.25, 0.3))


@pytest.mark.parametrize(("waits_s", "exposed"), [(0.01, True), (0.0, False)], ids=["queue empty", "queue full"])
def test_building_an_iterator_is_exposed_where_the_queue_ran_empty(waits_s, exposed):
    drawing = "[" + "wwwc" * STEPS + "|gg" + "wwwc" * STEPS
    run = builders.run_from(drawing, device=[(waits_s, 0.0, 0.04)] * 80)
    gap_s = 0.02 if exposed else 0.0
    assert signals_of(run).main.exposed_wait_s.value == pytest.approx(72 * waits_s + gap_s)


def test_a_workload_keeps_host_and_device_apart():
    workload = on_device([0.01] * STEPS, 0.002).main.workload
    assert workload.device_s == pytest.approx((0.028,) * STEPS)
    assert workload.host_s == pytest.approx((0.01,) * STEPS)
    assert workload.copy_s == pytest.approx(0.002)
    assert workload.waits_s == pytest.approx((0.01,) * STEPS)
    assert workload.run_ahead_steps is None


def test_a_host_that_waits_for_the_device_in_every_step_never_runs_ahead():
    signals = on_device([0.01] * STEPS, device_sync_s=0.004)
    assert signals.main.workload.run_ahead_steps == 0
    assert signals.main.workload.host_s == pytest.approx((0.006,) * STEPS)
    assert signals.device.sync_share.value == pytest.approx(0.1)
    assert signals.device.syncs_per_step.value == 1
    assert signals.device.drained_share.value == 1


def test_what_a_host_launches_ahead_is_held_against_the_devices_time():
    # Each step takes the host 20 ms and the device 40, of them 4 for its copy; the queue is never full.
    signals = signals_of(builders.run_from("[" + "wc" * STEPS, device=[(0.0, 0.004, 0.04)] * STEPS))
    assert signals.starved_share.value == pytest.approx(0.1)
    assert signals.steps.median_s.value == pytest.approx(0.04)
    assert signals.steps.h2d_share.value == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("device_ms", "drained", "behind_ms"),
    [
        ([10, 10, 10, 10], [0, 0, 0, 0], [0, 0, 0, 0]),
        ([30, 30, 30, 30], [1, 0, 0, 0], [0, 20, 40, 60]),  # the queue fills
        ([30, 30, 2, 30], [1, 0, 0, 0], [0, 20, 40, 32]),
        ([30, 30, 30, 30], [1, 0, 1, 0], [0, 20, 0, 20]),  # and is found empty
        ([30, None, 30, 30], [1, 0, 0, 0], [0, 20, 40, 60]),  # one that was not measured, as its neighbours
        ([2, 2, 30, 30], [0, 0, 0, 0], [0, 0, 0, 20]),  # never ahead of the host
    ],
)
def test_how_far_the_device_is_behind(device_ms, drained, behind_ms):
    names = {"iterator": 1, "ordinal": range(len(device_ms))}
    calls = pd.DataFrame({**names, "begin_ns": [place * 10 for place in range(len(device_ms))]})
    told = pd.DataFrame({**names, "device_step_ns": pd.Series(device_ms, dtype=float), "drained": drained})
    lag = Lag.of(calls, told)
    assert lag.behind_ns.tolist() == behind_ms
    assert lag.at(pd.Series([0, 9, 10, 39, -5])).tolist() == [behind_ms[place] for place in (0, 0, 1, 3, 0)]


def test_a_step_that_was_not_heard_is_as_its_nearest_neighbour():
    values = pd.Series([nan, 1.0, nan, nan, nan, 2.0, nan, 7.0, nan])
    loaders = pd.Series([1, 1, 1, 1, 1, 1, 1, 2, 3])
    filled = as_nearest(values, loaders).tolist()
    assert filled[:8] == [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 7.0]
    assert isnan(filled[8])


def test_one_copy_of_the_warm_up_is_no_copy_of_later_steps():
    copies_s = [1.0] + [0.0] * 399
    device = [(0.0, copy_s, 0.04) for copy_s in copies_s]
    run = builders.run_from("[" + "wwwc" * 400, device=device, device_heard_every=4)
    assert signals_of(run).starved_share.value == pytest.approx(0.0)
