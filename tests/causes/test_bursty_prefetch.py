"""bursty-prefetch: found where supply is enough on the mean, comes in bursts, and a deeper buffer bridges them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, on_a_cpu, workers_busy
from builders import around, exact, machine
from passes import held_up

from loaderdoctor.analyse.signals import OrderSignals
from loaderdoctor.causes import diagnose
from loaderdoctor.causes.order.bursty_prefetch import SUPPLY
from loaderdoctor.causes.order.head_of_line import UNEVEN

BURST, UNPACK_S = 20, 0.16


def bursts(*, order=None, spread=1.5, unpack_s=UNPACK_S, **overrides):
    """One worker that takes 0.16 s for every twentieth batch, and 1 ms for the others; a step takes 10 ms."""
    signals = {"held_of_waits": exact(0.0), "supply": around(1.1, "times"), **(order or {})}
    one = workers_busy(
        1,
        wait=0.4,
        worker_busy_share=around(0.6),
        work={"blocked_s": 0.001, "cpu_s": 0.0},
        order=OrderSignals(**signals),
        **overrides,
    )
    batches = tuple(
        replace(batch, blocked_s=unpack_s) if k % BURST == 0 else batch for k, batch in enumerate(one.workload.batches)
    )
    recorded = replace(one.workload, batches=batches)
    return replace(one, workload=recorded, making=replace(one.making, spread=exact(spread, "times the mean")))


def test_found_with_a_buffer_as_deep_as_a_burst_and_no_deeper():
    finding = answer("bursty-prefetch", on_a_cpu(bursts()))
    assert finding.status == "found"
    assert 12 <= finding.prescription.settings["prefetch_factor"] <= 32
    assert finding.prescription.memory_bytes > 0
    assert finding.gain.speedup.low > 1.2


def test_a_buffer_that_does_not_fit_into_memory_is_not_prescribed():
    small = machine(shm_free_bytes=exact(64_000, "bytes"))
    finding = answer("bursty-prefetch", on_a_cpu(bursts(), machine=small))
    assert finding.prescription.settings["prefetch_factor"] <= 16


@pytest.mark.parametrize(("supply", "status"), [(SUPPLY.value, "found"), (SUPPLY.value - 0.01, "ruled-out")])
def test_a_buffer_only_delays_what_is_too_slow_on_the_mean(supply, status):
    assert answer("bursty-prefetch", on_a_cpu(bursts(order={"supply": exact(supply, "times")}))).status == status


def test_a_deficit_gains_nothing_by_a_deeper_buffer():
    finding = answer("bursty-prefetch", on_a_cpu(bursts(unpack_s=2.0)))
    assert (finding.status, finding.evidence[0].unit) == ("ruled-out", "times as fast")


def test_finished_batches_behind_a_slow_one_are_another_illness_where_taking_them_is_the_cure():
    findings = {one.cause: one for one in diagnose(on_a_cpu(held_up())).findings}
    assert findings["head-of-line"].status == "found"
    assert findings["bursty-prefetch"].explained_by in {"head-of-line", None}
    assert findings["bursty-prefetch"].status != "found"


def test_even_batches_are_no_bursts():
    assert answer("bursty-prefetch", on_a_cpu(bursts(spread=UNEVEN.value - 0.01))).status == "ruled-out"


def test_gaps_between_epochs_are_another_illness():
    one = bursts(exposed_wait_share=exact(0.4), epoch_gap_share=exact(0.39))
    assert answer("bursty-prefetch", on_a_cpu(one)).status == "ruled-out"
