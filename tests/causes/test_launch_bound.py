"""launch-bound: the limit of a fed run whose device runs dry although nobody waits for it."""

from __future__ import annotations

import pytest
from ailing import answer, fed, on_a_gpu, workers_busy
from builders import exact

from loaderdoctor.causes import diagnose
from loaderdoctor.causes.not_the_loader.fed import DRAINED, SYNCED


def dry(one=None, *, drained=1.0, syncs=0.02):
    return on_a_gpu(one or fed(), drained_share=drained, syncs_per_step=exact(syncs, "syncs"))


def test_a_fed_device_that_runs_dry_waits_for_launches():
    assert answer("launch-bound", dry()).status == "found"
    assert diagnose(dry()).limit == "launch-bound"


@pytest.mark.parametrize(("drained", "limit"), [(DRAINED.value, "launch-bound"), (DRAINED.value - 0.01, "gpu-bound")])
def test_a_device_with_work_left_is_gpu_bound(drained, limit):
    assert diagnose(dry(drained=drained)).limit == limit


@pytest.mark.parametrize(("syncs", "status"), [(SYNCED.value - 0.01, "found"), (SYNCED.value, "ruled-out")])
def test_a_host_that_waits_for_the_device_finds_it_dry_anyway(syncs, status):
    assert answer("launch-bound", dry(syncs=syncs)).status == status


def test_a_device_that_waits_for_data_is_another_illness():
    assert answer("launch-bound", dry(workers_busy())).status == "ruled-out"
