"""over-provisioned: found where half of the workers would do and their memory matters; never at the cost of speed."""

from __future__ import annotations

import pytest
from ailing import answer, fed, on_a_cpu, workers_busy
from builders import exact, machine

from loaderdoctor.causes import diagnose
from loaderdoctor.causes.workers.over_provisioned import MATERIAL

MIB = 1 << 20


def many(workers=10, *, worker_bytes=100 * MIB):
    return fed(workers, work={"worker_rss_bytes": worker_bytes})


def run_of(one, *, limit=8e9):
    return on_a_cpu(one, machine=machine(memory_limit_bytes=exact(limit, "bytes")))


def test_found_with_the_memory_that_it_frees_and_no_speedup():
    finding = answer("over-provisioned", run_of(many()))
    assert finding.status == "found"
    assert finding.prescription.settings == {"num_workers": 2}
    assert finding.prescription.memory_bytes == pytest.approx(-8 * 100 * MIB, rel=0.01)
    assert (finding.gain.speedup.low, finding.gain.speedup.high) == (1.0, 1.0)


@pytest.mark.parametrize(("freed", "status"), [(1.01 * MATERIAL.value, "found"), (0.99 * MATERIAL.value, "ruled-out")])
def test_memory_just_below_the_threshold_does_not_matter(freed, status):
    assert answer("over-provisioned", run_of(many(worker_bytes=round(freed / 8)))).status == status


def test_the_same_memory_does_not_matter_on_a_larger_machine():
    assert answer("over-provisioned", run_of(many(), limit=1e12)).status == "ruled-out"


@pytest.mark.parametrize(("workers", "status"), [(3, "ruled-out"), (4, "found")])
def test_a_fair_margin_is_not_too_many(workers, status):
    assert answer("over-provisioned", run_of(many(workers, worker_bytes=1000 * MIB))).status == status


def test_a_loader_that_is_waited_for_is_another_illness():
    assert answer("over-provisioned", run_of(workers_busy(16))).status == "ruled-out"


def test_it_is_the_one_finding_that_a_healthy_run_may_have():
    verdict = diagnose(run_of(many()))
    assert (verdict.status, verdict.cause) == ("healthy", None)
    assert [finding.cause for finding in verdict.findings if finding.status == "found"] == ["over-provisioned"]
