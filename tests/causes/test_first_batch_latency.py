"""first-batch-latency: found where gaps are the making of one batch that takes no longer than any other."""

from __future__ import annotations

import pytest
from ailing import answer, on_a_cpu
from builders import exact
from passes import first_is_slow, with_gaps

from loaderdoctor.causes.order.gaps import GAPS, MOST

MADE = {"gap_start_share": exact(0.0), "gap_usual_share": exact(0.9)}


def test_found_with_a_bound():
    finding = answer("first-batch-latency", on_a_cpu(with_gaps(order=MADE)))
    assert finding.status == "found"
    assert finding.gain.basis == "bound"
    assert finding.prescription.actions[0].kind == "code"


@pytest.mark.parametrize(("share", "status"), [(MOST.value, "found"), (MOST.value - 0.01, "ruled-out")])
def test_making_the_batch_is_most_of_the_gap(share, status):
    one = with_gaps(order={**MADE, "gap_usual_share": exact(share)})
    assert answer("first-batch-latency", on_a_cpu(one)).status == status


@pytest.mark.parametrize(("share", "status"), [(GAPS.value, "found"), (GAPS.value - 0.001, "ruled-out")])
def test_long_epochs_do_not_feel_it(share, status):
    one = with_gaps(order=MADE, epoch_gap_share=exact(share))
    assert answer("first-batch-latency", on_a_cpu(one)).status == status


@pytest.mark.parametrize("one", [with_gaps(), first_is_slow()], ids=["workers start", "the first one is slow"])
def test_gaps_of_other_things_are_other_illnesses(one):
    assert answer("first-batch-latency", on_a_cpu(one)).status == "ruled-out"


def test_one_epoch_has_one_start():
    assert answer("first-batch-latency", on_a_cpu(with_gaps(order=MADE, epochs=1))).status == "not-applicable"
