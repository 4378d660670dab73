"""head-of-line: found where finished batches lie behind a slow one and the replay out of order is faster."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, on_a_cpu, workers_busy
from builders import around, exact

from loaderdoctor.analyse.signals import OrderSignals
from loaderdoctor.causes import diagnose
from loaderdoctor.causes.order.head_of_line import HELD, PARKED, SUPPLY, UNEVEN

FAST_S, SLOW_S, EVERY = 0.004, 0.4, 25


def held_up(*, settings=None, order=None, spread=1.5, slow_s=SLOW_S, every=EVERY, **overrides):
    """Four workers that make batches of 4 ms, and one of 0.4 s among 25; a step takes 10 ms."""
    signals = {
        "held_share": around(0.4),
        "held_of_waits": around(0.9, spread=0.03),
        "supply": around(2.0, "times"),
        **(order or {}),
    }
    one = workers_busy(
        4,
        wait=0.45,
        worker_busy_share=around(0.3),
        work={"blocked_s": FAST_S, "cpu_s": 0.0},
        settings={"in_order": True, **(settings or {})},
        order=OrderSignals(**signals),
        **overrides,
    )
    batches = tuple(
        replace(batch, blocked_s=slow_s) if k % every == every // 2 else batch
        for k, batch in enumerate(one.workload.batches)
    )
    recorded = replace(one.workload, batches=batches)
    return replace(one, workload=recorded, making=replace(one.making, spread=exact(spread, "times the mean")))


def test_found_and_replayed_out_of_order():
    finding = answer("head-of-line", on_a_cpu(held_up()))
    assert finding.status == "found"
    assert finding.prescription.settings == {"in_order": False}
    assert finding.prescription.safety == "changes-order"
    assert finding.gain.basis == "simulated"
    assert finding.gain.speedup.best > 1.3


@pytest.mark.parametrize(
    ("name", "bound", "unit"),
    [
        ("held_share", HELD.value, "share"),
        ("held_of_waits", PARKED.value, "share"),
        ("supply", SUPPLY.value, "times"),
    ],
)
def test_just_below_a_threshold_it_is_ruled_out(name, bound, unit):
    assert answer("head-of-line", on_a_cpu(held_up(order={name: exact(bound, unit)}))).status == "found"
    below = answer("head-of-line", on_a_cpu(held_up(order={name: exact(bound * 0.98, unit)})))
    assert (below.status, below.evidence[0].threshold) == ("ruled-out", bound)


def test_even_batches_seldom_overtake():
    assert answer("head-of-line", on_a_cpu(held_up(spread=UNEVEN.value * 0.98))).status == "ruled-out"


def test_workers_that_are_all_too_slow_gain_nothing_in_any_order():
    finding = answer("head-of-line", on_a_cpu(held_up(slow_s=FAST_S)))
    assert (finding.status, finding.evidence[0].unit) == ("ruled-out", "times as fast")


@pytest.mark.parametrize(
    ("settings", "reason"), [({"in_order": False}, "as they come"), ({"num_workers": 1}, "One worker")]
)
def test_without_an_order_nothing_is_held_back(settings, reason):
    finding = answer("head-of-line", on_a_cpu(held_up(settings=settings)))
    assert finding.status == "not-applicable"
    assert reason in finding.reasons[0]


def test_an_older_torch_has_no_such_setting():
    finding = answer("head-of-line", on_a_cpu(held_up(settings={"in_order": None})))
    assert finding.prescription.settings == {}
    assert finding.gain.basis == "bound"


def test_a_deeper_buffer_is_its_symptoms_cure():
    findings = {one.cause: one for one in diagnose(on_a_cpu(held_up())).findings}
    assert findings["head-of-line"].status == "found"
    assert findings["bursty-prefetch"].status in {"ruled-out", "explained"}
