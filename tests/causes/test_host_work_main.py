"""host-work-main: the loop's own Python is what limits a fed run, and a fault beside waits, the larger loss first."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, fed, on_a_cpu, on_a_gpu, workers_busy
from builders import around, exact

from loaderdoctor.analyse.signals import LoopSignals
from loaderdoctor.causes import diagnose
from loaderdoctor.causes.main_process.beside import QUARTER


def loop(share, other=0.0):
    return LoopSignals(after_step_share=around(share, spread=0.02), save_share=around(other, spread=0.02))


def test_it_limits_a_run_that_does_not_starve_and_is_no_finding_there():
    run = diagnose(on_a_cpu(fed(), loop=loop(0.8)))
    assert (run.status, run.limit) == ("healthy", "host-work-main")
    assert not [one for one in run.findings if one.status == "found" and one.cause != "over-provisioned"]


def test_beside_waits_the_larger_loss_comes_first():
    waits = workers_busy(wait=0.08, work={"cpu_s": 0.0005, "blocked_s": 0.001})
    run = diagnose(on_a_cpu(waits, loop=loop(0.8)))
    assert (run.status, run.cause) == ("starving", "host-work-main")
    assert run.findings[0].gain.speedup.best > 2
    assert run.findings[0].prescription.actions[0].example


@pytest.mark.parametrize(
    ("share", "limit"), [(QUARTER.value + 0.01, "host-work-main"), (QUARTER.value - 0.01, "gpu-bound")]
)
def test_a_little_beside_the_training_is_no_limit(share, limit):
    assert diagnose(on_a_cpu(fed(), loop=loop(share))).limit == limit


def test_the_larger_of_two_is_named():
    assert diagnose(on_a_cpu(fed(), loop=loop(0.3, other=0.5))).limit == "checkpoint-stall"


def test_waits_for_data_are_another_illness():
    run = on_a_cpu(workers_busy(), loop=loop(0.01))
    finding = answer("host-work-main", run)
    assert (finding.status, finding.evidence[0].value) == ("ruled-out", 0.01)


@pytest.mark.parametrize(("drained", "status"), [(1.0, "found"), (0.1, "ruled-out")])
def test_a_device_that_still_has_work_does_not_notice(drained, status):
    run = replace(on_a_gpu(fed(), drained_share=exact(drained)), loop=loop(0.8))
    assert answer("host-work-main", run).status == status
