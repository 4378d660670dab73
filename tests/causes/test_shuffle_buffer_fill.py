"""shuffle-buffer-fill: found where a stream's first batch takes long and its last ones take nothing."""

from __future__ import annotations

import pytest
from ailing import answer, on_a_cpu
from builders import exact
from passes import first_is_slow, with_gaps

from loaderdoctor.causes.order.gaps import GAPS, MOST
from loaderdoctor.causes.order.shuffle_buffer_fill import PAID_BACK
from loaderdoctor.values import Missing

FILLED = {"paid_back_share": exact(0.95), "listing_share": exact(0.0)}


def test_found_and_replayed_with_the_work_spread_over_the_pass():
    finding = answer("shuffle-buffer-fill", on_a_cpu(first_is_slow(order=FILLED)))
    assert finding.status == "found"
    assert finding.prescription.settings == {}
    assert finding.prescription.actions[0].example
    assert finding.gain.speedup.low < 1.5 < finding.gain.speedup.high


@pytest.mark.parametrize(("back", "status"), [(PAID_BACK.value, "found"), (PAID_BACK.value - 0.01, "ruled-out")])
def test_what_pays_nothing_back_is_another_illness(back, status):
    one = first_is_slow(order={**FILLED, "paid_back_share": exact(back)})
    assert answer("shuffle-buffer-fill", on_a_cpu(one)).status == status


def test_a_stream_that_never_ends_does_not_tell():
    one = first_is_slow(order={**FILLED, "paid_back_share": Missing("no-whole-pass", "No pass ended.")})
    finding = answer("shuffle-buffer-fill", on_a_cpu(one))
    assert (finding.status, finding.reasons) == ("no-data", ("No pass ended.",))


@pytest.mark.parametrize("name", ["gap_extra_share", "before_first_share"])
@pytest.mark.parametrize(("share", "status"), [(MOST.value, "found"), (MOST.value - 0.01, "ruled-out")])
def test_it_is_the_first_sample_that_fills_the_gap(name, share, status):
    one = first_is_slow(order={**FILLED, name: exact(share)})
    assert answer("shuffle-buffer-fill", on_a_cpu(one)).status == status


def test_a_long_pass_does_not_feel_it():
    one = first_is_slow(order=FILLED, epoch_gap_share=exact(GAPS.value - 0.001))
    assert answer("shuffle-buffer-fill", on_a_cpu(one)).status == "ruled-out"


def test_a_map_has_no_such_buffer():
    assert answer("shuffle-buffer-fill", on_a_cpu(with_gaps(order=FILLED))).status == "not-applicable"
