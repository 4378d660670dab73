"""cpu-quota: found where fewer CPUs are granted than there are, and the job is held back."""

from __future__ import annotations

import pytest
from ailing import answer, workers_busy
from builders import exact
from slow_reads import computing

from loaderdoctor.causes.environment.cpu_quota import HELD_BACK

QUOTA = {"cpus_allowed_by": "quota"}


def granted(cpus=2.0, *, stopped=0.5, in_line=0.4, workers=4, facts=QUOTA):
    one = workers_busy(workers, fetch_run_queue_share=exact(in_line))
    of_machine = {
        "cpus_present": exact(8, "cpus"),
        "cpus_allowed": exact(cpus, "cpus"),
        "throttled_share": exact(stopped),
        "facts": facts,
    }
    return computing(one, **of_machine)


def test_found_with_what_is_granted():
    finding = answer("cpu-quota", granted())
    assert (finding.status, finding.prescription.settings) == ("found", {})
    assert "2 that are granted" in finding.prescription.advice


@pytest.mark.parametrize(("stopped", "status"), [(HELD_BACK.value, "found"), (HELD_BACK.value - 0.01, "ruled-out")])
def test_a_quota_that_hardly_stops_anything_is_wide_enough(stopped, status):
    assert answer("cpu-quota", granted(stopped=stopped)).status == status


def test_processes_in_line_without_a_grant_are_too_many():
    assert answer("cpu-quota", granted(8.0, stopped=0.0)).status == "ruled-out"


@pytest.mark.parametrize(("workers", "status"), [(4, "found"), (1, "ruled-out")])
def test_a_schedulers_grant_holds_back_more_processes_than_cpus(workers, status):
    narrow = granted(stopped=0.0, workers=workers, facts={"cpus_allowed_by": "affinity"})
    assert answer("cpu-quota", narrow).status == status


def test_work_that_stands_in_no_line_is_not_held_back():
    narrow = granted(stopped=0.0, in_line=HELD_BACK.value - 0.01, facts={"cpus_allowed_by": "affinity"})
    assert answer("cpu-quota", narrow).status == "ruled-out"
