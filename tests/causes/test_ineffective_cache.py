"""ineffective-cache: what workers keep is lost when they end, and later epochs take as long as the first."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, computing, hot, on_a_cpu
from builders import around, workload

from loaderdoctor.analyse.signals import MakingSignals
from loaderdoctor.causes import diagnose
from loaderdoctor.causes.cpu_work.ineffective_cache import STILL


def cached(caches="cache", later=1.0, epochs=4, persistent=False, **shares):
    one = computing(places=(hot("own"),), **(shares or {"array": 0.9}))
    settings = replace(one.settings, caches=caches, persistent_workers=persistent)
    work = workload(settings=settings, cores=2.0, epochs=epochs, batches=200, cpu_s=0.03, wait_s=0.01, compute_s=0.01)
    making = MakingSignals(later_epochs=around(later, "times", 0.01))
    return on_a_cpu(replace(one, settings=settings, epochs=epochs, workload=work, making=making))


def test_found_with_workers_that_stay():
    finding = answer("ineffective-cache", cached())
    assert (finding.status, finding.prescription.settings) == ("found", {"persistent_workers": True})
    assert finding.gain.speedup.best > 1.1
    assert "cache" in finding.prescription.advice


def test_it_explains_the_work_that_it_should_have_saved():
    run = diagnose(cached(transform=0.9))
    assert run.cause == "ineffective-cache"
    assert {one.cause: one.status for one in run.findings}["cpu-augment"] == "explained"


@pytest.mark.parametrize(("later", "status"), [(STILL.value + 0.02, "found"), (STILL.value - 0.02, "ruled-out")])
def test_a_cache_that_saves_work_is_none_to_blame(later, status):
    assert answer("ineffective-cache", cached(later=later)).status == status


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"caches": ""}, "not-applicable"),
        ({"caches": None}, "no-data"),
        ({"persistent": True}, "not-applicable"),
        ({"epochs": 1}, "ruled-out"),
    ],
    ids=["no-cache", "not-recorded", "kept", "one-epoch"],
)
def test_without_a_cache_that_is_lost_there_is_nothing_to_keep(given, status):
    assert answer("ineffective-cache", cached(**given)).status == status
