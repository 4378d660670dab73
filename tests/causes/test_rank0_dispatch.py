"""rank0-dispatch: found where one of several training processes takes all batches."""

from __future__ import annotations

import pytest
from ailing import answer, fed, on_a_cpu, workers_busy
from builders import exact

from loaderdoctor.analyse.signals import JobSignals


def dispatched(one, *, processes=2, loading=1):
    job = JobSignals(processes=exact(processes, "processes"), loading=exact(loading, "processes"))
    return on_a_cpu(one, job=job)


def test_found_with_a_bound():
    finding = answer("rank0-dispatch", dispatched(workers_busy(wait=0.5)))
    assert (finding.status, finding.gain.basis) == ("found", "bound")
    assert finding.gain.speedup.high == pytest.approx(1 / (1 - 0.25))
    assert "dispatch_batches=False" in finding.prescription.actions[0].example


@pytest.mark.parametrize(("loading", "status"), [(1, "found"), (2, "ruled-out")])
def test_ranks_that_load_for_themselves_are_another_illness(loading, status):
    assert answer("rank0-dispatch", dispatched(workers_busy(), loading=loading)).status == status


def test_a_loader_that_keeps_up_may_load_for_all():
    assert answer("rank0-dispatch", dispatched(fed())).status == "ruled-out"


def test_one_process_has_nobody_to_load_for():
    assert answer("rank0-dispatch", on_a_cpu(workers_busy())).status == "not-applicable"
