"""affinity-collapsed: found where workers stand in line under a narrow mask while CPUs idle."""

from __future__ import annotations

import pytest
from ailing import answer, workers_busy
from builders import exact
from slow_reads import computing, making

from loaderdoctor.causes import diagnose
from loaderdoctor.causes.environment.affinity_collapsed import IDLE, IN_LINE


def bound_to_one(cpus=1.0, *, in_line=0.5, **overrides):
    """Two workers that compute 12 ms a batch, and wait as long for the one CPU; batches are used in 10 ms."""
    return workers_busy(
        2,
        wait=0.5,
        cores=2.0,
        making=making(worker_cpus=exact(cpus, "cpus")),
        fetch_run_queue_share=exact(in_line),
        work={"cpu_s": 0.008, "blocked_s": 0.0, "run_queue_s": 0.012},
        **overrides,
    )


def test_found_with_the_recorded_work_on_all_cpus():
    finding = answer("affinity-collapsed", computing(bound_to_one(), cpu_busy_share=exact(0.5)))
    assert (finding.status, finding.gain.basis, finding.prescription.settings) == ("found", "simulated", {})
    assert 1 < finding.gain.speedup.low < finding.gain.speedup.best


def test_a_full_mask_is_a_quota_or_too_many_workers():
    assert answer("affinity-collapsed", computing(bound_to_one(2.0), cpu_busy_share=exact(0.5))).status == "ruled-out"


@pytest.mark.parametrize(("share", "status"), [(IN_LINE.value, "found"), (IN_LINE.value - 0.01, "ruled-out")])
def test_workers_bound_to_a_cpu_each_do_not_stand_in_line(share, status):
    run = computing(bound_to_one(in_line=share), cpu_busy_share=exact(0.5))
    assert answer("affinity-collapsed", run).status == status


@pytest.mark.parametrize(("busy", "status"), [(1 - IDLE.value - 0.01, "found"), (1 - IDLE.value + 0.01, "ruled-out")])
def test_without_an_idle_cpu_a_wider_mask_gains_nothing(busy, status):
    assert answer("affinity-collapsed", computing(bound_to_one(), cpu_busy_share=exact(busy))).status == status


@pytest.mark.parametrize(("own", "others", "status"), [(0.5, 0.5, "found"), (0.85, 0.15, "ruled-out")])
def test_cpus_that_others_use_would_be_shared_with_them(own, others, status):
    taken = {"cpu_busy_share": exact(own), "neighbour_allowed_cpu_share": exact(others)}
    run = computing(bound_to_one(), **taken)
    assert answer("affinity-collapsed", run).status == status


def test_too_many_threads_under_a_narrow_mask_are_its_symptom():
    own = making(
        worker_cpus=exact(1, "cpus"), worker_threads=exact(18, "threads"), worker_other_threads_share=exact(0.8)
    )
    run = computing(bound_to_one(), cpu_busy_share=exact(0.5))
    run = computing(workers_busy(**{**_given(run), "making": own}), cpu_busy_share=exact(0.5))
    said = {one.cause: one for one in diagnose(run).findings}
    assert said["thread-oversubscription"].explained_by == "affinity-collapsed"


def _given(run):
    one = run.loaders[0]
    return {"exposed_wait_share": one.exposed_wait_share, "workload": one.workload, "fetch_run_queue_share": exact(0.5)}
