"""too-few-shards: found where a stream's workers have ended while the training waits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, on_a_cpu, workers_busy
from builders import exact

from loaderdoctor.analyse.signals import OrderSignals
from loaderdoctor.causes import diagnose
from loaderdoctor.causes.order.too_few_shards import IDLE, THEN


def two_shards(*, streams=2, kind="iterable", idle=0.66, then=1.0, **overrides):
    """Six workers, of which two have anything to yield: batches of 60 ms, steps of 10 ms."""
    order = OrderSignals(idle_at_end_share=exact(idle), waits_at_end_share=exact(then), streams=streams)
    one = workers_busy(
        6,
        wait=0.66,
        work={"cpu_s": 0.0, "blocked_s": 0.06},
        settings={"dataset_kind": kind},
        order=order,
        **overrides,
    )
    return replace(one, workload=replace(one.workload, streams=streams))


def test_found_and_replayed_with_work_for_all():
    finding = answer("too-few-shards", on_a_cpu(two_shards()))
    assert finding.status == "found"
    assert "Only 2 workers of 6" in finding.prescription.advice
    assert finding.prescription.settings == {}
    assert finding.gain.speedup.low < 2.9 < finding.gain.speedup.high


def test_more_workers_and_deeper_buffers_are_no_cure():
    diagnosis = diagnose(on_a_cpu(two_shards()))
    found = [one for one in diagnosis.findings if one.status == "found"]
    assert [one.cause for one in found] == ["too-few-shards"]
    more = [row.speedup.best for row in diagnosis.what_if if row.settings.get("num_workers", 0) > 2]
    assert more
    assert all(speedup == pytest.approx(1.0, abs=0.02) for speedup in more)


def test_uneven_shards_have_a_bound():
    finding = answer("too-few-shards", on_a_cpu(two_shards(streams=None, idle=0.4)))
    assert (finding.status, finding.gain.basis) == ("found", "bound")


@pytest.mark.parametrize(("idle", "status"), [(IDLE.value, "found"), (IDLE.value - 0.01, "ruled-out")])
def test_the_end_of_a_pass_idles_anywhere(idle, status):
    assert answer("too-few-shards", on_a_cpu(two_shards(idle=idle))).status == status


@pytest.mark.parametrize(("then", "status"), [(THEN.value, "found"), (THEN.value - 0.01, "ruled-out")])
def test_waits_at_other_times_have_another_cause(then, status):
    assert answer("too-few-shards", on_a_cpu(two_shards(then=then))).status == status


def test_a_sampler_deals_to_every_worker():
    assert answer("too-few-shards", on_a_cpu(two_shards(kind="map"))).status == "not-applicable"
