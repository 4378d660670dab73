"""worker-respawn: found where the gaps between epochs are new workers; a loader that is built anew is built once instead."""

from __future__ import annotations

import pytest
from ailing import answer, fed, on_a_cpu
from builders import exact
from passes import first_is_slow, with_gaps

from loaderdoctor.causes.order.gaps import GAPS
from loaderdoctor.causes.order.worker_respawn import STARTING


def test_found_and_cured_by_keeping_them():
    finding = answer("worker-respawn", on_a_cpu(with_gaps()))
    assert finding.status == "found"
    assert finding.prescription.settings == {"persistent_workers": True}
    assert finding.gain.basis == "simulated"
    assert finding.gain.speedup.low < 1.6 < finding.gain.speedup.high


@pytest.mark.parametrize("kept", [False, True])
def test_a_loader_that_is_built_anew_is_built_once_whatever_its_setting_says(kept):
    one = with_gaps(settings={"persistent_workers": kept}, order={"rebuilt": True}, overhead_s=0.295)
    recorded = one.workload.__class__(**{**vars(one.workload), "rebuilt": True})
    finding = answer("worker-respawn", on_a_cpu(one.__class__(**{**vars(one), "workload": recorded})))
    assert finding.status == "found"
    assert finding.prescription.settings == {}
    assert finding.prescription.actions[0].site == one.site
    assert finding.gain.speedup.best > 1.4


@pytest.mark.parametrize(("share", "status"), [(STARTING.value + 0.01, "found"), (STARTING.value - 0.02, "ruled-out")])
def test_a_gap_that_is_hardly_starting_is_filled_by_something_else(share, status):
    one = with_gaps(order={"gap_start_share": exact(share), "gap_extra_share": exact(0.0)})
    assert answer("worker-respawn", on_a_cpu(one)).status == status


@pytest.mark.parametrize(("share", "status"), [(GAPS.value, "found"), (GAPS.value - 0.001, "ruled-out")])
def test_short_gaps_are_not_worth_it(share, status):
    assert answer("worker-respawn", on_a_cpu(with_gaps(epoch_gap_share=exact(share)))).status == status


@pytest.mark.parametrize(("kind", "status"), [("map", "found"), ("iterable", "ruled-out")])
def test_what_a_worker_does_once_goes_with_it_but_what_a_stream_does_in_each_pass_may_not(kind, status):
    one = with_gaps(
        settings={"dataset_kind": kind}, order={"gap_start_share": exact(0.1), "gap_extra_share": exact(0.8)}
    )
    assert answer("worker-respawn", on_a_cpu(one)).status == status


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (with_gaps(settings={"persistent_workers": True}), "kept over the epochs already"),
        (with_gaps(epochs=1), "iterated only once"),
        (with_gaps(settings={"num_workers": 0}), "no workers"),
    ],
    ids=["kept", "once", "none"],
)
def test_it_cannot_be_where_nothing_starts_anew(one, reason):
    finding = answer("worker-respawn", on_a_cpu(one))
    assert finding.status == "not-applicable"
    assert reason in finding.reasons[0]


def test_a_stream_that_lists_its_files_is_another_illness():
    one = first_is_slow(settings={"persistent_workers": False}, order={"gap_start_share": exact(0.05)})
    assert answer("worker-respawn", on_a_cpu(one)).status == "ruled-out"


def test_a_loader_that_keeps_up_has_none_of_it():
    assert (
        answer("worker-respawn", on_a_cpu(fed(epochs=4, settings={"persistent_workers": False}))).status == "ruled-out"
    )


@pytest.mark.parametrize(("batches", "actions"), [(10, 1), (200, 0)])
def test_an_iterator_for_each_batch_is_to_be_kept(batches, actions):
    finding = answer("worker-respawn", on_a_cpu(with_gaps(batches=batches, epochs=10)))
    assert len(finding.prescription.actions) == actions
