"""noisy-neighbour: found where others keep the CPUs busy that batches wait for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, workers_busy
from builders import around, exact
from slow_reads import computing

from loaderdoctor.causes import diagnose
from loaderdoctor.causes.environment.noisy_neighbour import A_CPU, IN_LINE, OTHERS_PART


def disturbed(others=0.45, *, own=0.5, in_line=0.4, spread=0.0):
    """Two workers that compute all the time on two CPUs, of which others take a part."""
    one = workers_busy(
        2,
        cores=2.0,
        fetch_run_queue_share=exact(in_line),
        work={"cpu_s": 0.018, "blocked_s": 0.0, "run_queue_s": 0.012},
    )
    return computing(one, neighbour_allowed_cpu_share=around(others, spread=spread), cpu_busy_share=exact(own))


def test_found_with_a_replay_without_the_others():
    finding = answer("noisy-neighbour", disturbed())
    assert (finding.status, finding.gain.basis, finding.prescription.settings) == ("found", "simulated", {})


@pytest.mark.parametrize(("cpus", "status"), [(A_CPU.value * 1.5, "found"), (A_CPU.value * 0.99, "ruled-out")])
def test_programs_that_wake_up_now_and_then_are_no_job(cpus, status):
    assert answer("noisy-neighbour", disturbed(cpus / 2)).status == status


def test_bursts_are_no_job():
    assert answer("noisy-neighbour", disturbed(0.4, spread=0.5)).status == "ruled-out"


@pytest.mark.parametrize(("share", "status"), [(IN_LINE.value, "found"), (IN_LINE.value - 0.01, "ruled-out")])
def test_work_that_stands_in_no_line_is_not_disturbed(share, status):
    assert answer("noisy-neighbour", disturbed(in_line=share)).status == status


def test_a_job_that_uses_more_than_the_others_stands_in_its_own_way():
    finding = answer("noisy-neighbour", disturbed(0.3, own=0.9))
    assert (finding.status, finding.evidence[0].threshold) == ("ruled-out", OTHERS_PART.value)


def test_cpus_that_nobody_else_uses_are_a_masks_fault():
    run = disturbed(0.0)
    assert answer("noisy-neighbour", replace(run, ranks=1)).status == "ruled-out"
    assert "noisy-neighbour" not in [one.cause for one in diagnose(run).findings if one.status == "found"]
