"""head-of-line: found where finished batches lie behind a slow one and the replay out of order is faster."""

from __future__ import annotations

import pytest
from ailing import answer, on_a_cpu
from builders import exact
from passes import held_up

from loaderdoctor.causes import diagnose
from loaderdoctor.causes.order.head_of_line import HELD, PARKED, SUPPLY, UNEVEN


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
    finding = answer("head-of-line", on_a_cpu(held_up(slow_s=0.004)))
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
