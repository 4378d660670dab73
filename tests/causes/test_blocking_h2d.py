"""blocking-h2d: found where pinned copies hold up the host; unpinned ones are another illness."""

from __future__ import annotations

import pytest
from ailing import answer, fed, on_a_gpu

from loaderdoctor.causes.gates import BLOCKING, COPIES_FELT, PINNED


def blocking(*, copy=0.4, pinned=1.0, blocks=1.0):
    return on_a_gpu(fed(), copy_share=copy, pinned_share=pinned, blocking_share=blocks)


def test_found_with_what_computing_can_hide():
    finding = answer("blocking-h2d", blocking())
    assert (finding.status, finding.gain.basis) == ("found", "bound")
    assert finding.gain.speedup.high == pytest.approx(1 / 0.6, rel=0.01)
    assert finding.prescription.settings == {}
    assert "non_blocking" in finding.prescription.advice


def test_a_copy_longer_than_the_computing_is_hidden_in_part():
    assert answer("blocking-h2d", blocking(copy=0.8)).gain.speedup.high == pytest.approx(1 / 0.8, rel=0.05)


@pytest.mark.parametrize(("copy", "status"), [(COPIES_FELT.value, "found"), (COPIES_FELT.value * 0.99, "ruled-out")])
def test_copies_just_below_the_threshold_are_not_felt(copy, status):
    assert answer("blocking-h2d", blocking(copy=copy)).status == status


@pytest.mark.parametrize(
    ("pinned", "blocks", "status"),
    [
        (PINNED.value, BLOCKING.value, "found"),
        (PINNED.value - 0.01, 1.0, "ruled-out"),  # unpinned-memory
        (1.0, BLOCKING.value - 0.01, "ruled-out"),  # payload-too-wide
    ],
)
def test_its_neighbours_are_other_illnesses(pinned, blocks, status):
    assert answer("blocking-h2d", blocking(pinned=pinned, blocks=blocks)).status == status
