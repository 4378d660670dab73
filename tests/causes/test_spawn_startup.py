"""spawn-startup: found where spawned workers start anew; it takes the place of worker-respawn."""

from __future__ import annotations

import pytest
from ailing import answer, on_a_cpu
from builders import exact
from passes import with_gaps

from loaderdoctor.causes import diagnose
from loaderdoctor.causes.order.spawn_startup import STARTING

SPAWNED = {"start_method": "spawn"}


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_found_and_cured_by_keeping_them(method):
    finding = answer("spawn-startup", on_a_cpu(with_gaps(settings={"start_method": method})))
    assert finding.status == "found"
    assert finding.prescription.settings == {"persistent_workers": True}
    assert "pickled state" in finding.prescription.actions[-1].text


@pytest.mark.parametrize(("share", "status"), [(STARTING.value, "found"), (STARTING.value - 0.01, "ruled-out")])
def test_a_gap_that_is_hardly_starting_is_filled_by_something_else(share, status):
    one = with_gaps(settings=SPAWNED, order={"gap_start_share": exact(share)})
    assert answer("spawn-startup", on_a_cpu(one)).status == status


def test_forked_workers_respawn_and_spawned_ones_explain_it():
    assert answer("spawn-startup", on_a_cpu(with_gaps())).status == "not-applicable"
    findings = {one.cause: one for one in diagnose(on_a_cpu(with_gaps(settings=SPAWNED))).findings}
    assert findings["spawn-startup"].status == "found"
    assert (findings["worker-respawn"].status, findings["worker-respawn"].explained_by) == (
        "explained",
        "spawn-startup",
    )


def test_workers_that_stay_start_once():
    one = with_gaps(settings={**SPAWNED, "persistent_workers": True})
    assert answer("spawn-startup", on_a_cpu(one)).status == "not-applicable"
