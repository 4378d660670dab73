"""gpu-bound: the limit of a fed run that computes, unless the host is behind the device."""

from __future__ import annotations

import pytest
from ailing import answer, fed, on_a_cpu, on_a_gpu, workers_busy
from builders import exact, steps

from loaderdoctor.causes import diagnose
from loaderdoctor.causes.gates import STARVES
from loaderdoctor.causes.not_the_loader.fed import DRAINED
from loaderdoctor.causes.not_the_loader.gpu_bound import COMPUTING


@pytest.mark.parametrize("run", [on_a_cpu(fed()), on_a_gpu(fed())], ids=["cpu", "gpu"])
def test_a_fed_run_that_computes_is_limited_by_that(run):
    assert answer("gpu-bound", run).status == "found"
    assert diagnose(run).limit == "gpu-bound"


@pytest.mark.parametrize(("share", "status"), [(STARVES.value - 0.001, "found"), (STARVES.value, "ruled-out")])
def test_a_run_that_starves_has_another_limit(share, status):
    assert answer("gpu-bound", on_a_cpu(fed(), share=share)).status == status


@pytest.mark.parametrize(("share", "status"), [(COMPUTING.value, "found"), (COMPUTING.value - 0.01, "ruled-out")])
def test_other_work_in_the_step_is_not_computing(share, status):
    run = on_a_cpu(fed(), steps=steps(compute_share=exact(share)))
    assert answer("gpu-bound", run).status == status


def test_a_device_that_runs_dry_is_launch_bound():
    assert answer("gpu-bound", on_a_gpu(fed(), drained_share=DRAINED.value)).status == "ruled-out"


def test_a_limit_is_no_finding():
    for run in (on_a_gpu(fed()), on_a_cpu(workers_busy())):
        assert "gpu-bound" not in [finding.cause for finding in diagnose(run).findings if finding.status == "found"]
