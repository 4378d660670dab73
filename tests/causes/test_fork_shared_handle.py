"""fork-shared-handle: no recording has what would show it, and the report says so."""

from __future__ import annotations

from ailing import answer, fed, on_a_cpu, workers_busy


def test_no_data_and_what_would_tell():
    finding = answer("fork-shared-handle", on_a_cpu(workers_busy()))
    assert finding.status == "no-data"
    assert "num_workers=0" in finding.reasons[0]


def test_workers_that_are_spawned_share_no_handle():
    one = workers_busy(settings={"start_method": "spawn"})
    assert answer("fork-shared-handle", on_a_cpu(one)).status == "not-applicable"


def test_without_workers_nothing_is_shared():
    assert answer("fork-shared-handle", on_a_cpu(workers_busy(0))).status == "not-applicable"


def test_a_loader_that_keeps_up_is_not_held_up_by_it():
    assert answer("fork-shared-handle", on_a_cpu(fed())).status == "ruled-out"
