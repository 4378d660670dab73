"""dataset-scan: found where a stream lists its files before the first sample of each pass."""

from __future__ import annotations

import pytest
from ailing import answer, on_a_cpu
from builders import exact
from passes import first_is_slow, with_gaps

from loaderdoctor.analyse.signals import Site
from loaderdoctor.causes import diagnose
from loaderdoctor.causes.order.dataset_scan import LISTING
from loaderdoctor.causes.order.gaps import MOST
from loaderdoctor.causes.order.shuffle_buffer_fill import PAID_BACK
from loaderdoctor.values import Missing


def test_found_at_the_function_that_lists():
    finding = answer("dataset-scan", on_a_cpu(first_is_slow()))
    assert finding.status == "found"
    assert finding.prescription.actions[0].site == Site("data.py", 7)
    assert finding.gain.speedup.low < 1.5 < finding.gain.speedup.high


@pytest.mark.parametrize(("share", "status"), [(LISTING.value, "found"), (LISTING.value - 0.01, "ruled-out")])
def test_a_start_in_which_nothing_is_listed_is_something_else(share, status):
    assert answer("dataset-scan", on_a_cpu(first_is_slow(order={"listing_share": exact(share)}))).status == status


@pytest.mark.parametrize(("back", "status"), [(PAID_BACK.value - 0.01, "found"), (PAID_BACK.value, "ruled-out")])
def test_a_buffer_that_is_filled_is_another_illness(back, status):
    assert answer("dataset-scan", on_a_cpu(first_is_slow(order={"paid_back_share": exact(back)}))).status == status


def test_a_stream_that_never_ends_may_list_too():
    one = first_is_slow(order={"paid_back_share": Missing("no-whole-pass", "No pass ended.")})
    assert answer("dataset-scan", on_a_cpu(one)).status == "found"


def test_without_stacks_it_cannot_be_told():
    one = first_is_slow(order={"listing_share": Missing("no-stacks", "Not recorded.")})
    assert answer("dataset-scan", on_a_cpu(one)).status == "no-data"


@pytest.mark.parametrize(("share", "status"), [(MOST.value, "found"), (MOST.value - 0.01, "ruled-out")])
def test_it_is_what_fills_the_gap(share, status):
    assert answer("dataset-scan", on_a_cpu(first_is_slow(order={"gap_extra_share": exact(share)}))).status == status


def test_of_the_two_only_the_scan_is_found_and_the_first_batch_is_no_illness_of_its_own():
    found = [one.cause for one in diagnose(on_a_cpu(first_is_slow())).findings if one.status == "found"]
    assert found == ["dataset-scan"]


def test_workers_that_start_are_another_illness():
    assert answer("dataset-scan", on_a_cpu(with_gaps(settings={"dataset_kind": "iterable"}))).status == "ruled-out"
