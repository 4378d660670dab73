"""payload-too-wide: found where well-made copies are still felt, for their bytes."""

from __future__ import annotations

import pytest
from ailing import answer, fed, on_a_gpu
from builders import exact

from loaderdoctor.causes.gates import BLOCKING, COPIES_FELT, PINNED
from loaderdoctor.causes.workers.payload_too_wide import WIDE


def wide(*, copy=0.4, size=50e6, pinned=1.0, blocks=0.0):
    return on_a_gpu(
        fed(),
        copy_share=copy,
        copy_bytes_per_step=exact(size, "bytes"),
        pinned_share=pinned,
        blocking_share=blocks,
    )


def test_found_with_the_gain_of_half_to_a_quarter_of_the_bytes():
    finding = answer("payload-too-wide", wide())
    assert finding.status == "found"
    assert finding.gain.speedup.low == pytest.approx(1 / 0.8)
    assert finding.gain.speedup.high == pytest.approx(1 / 0.7)
    assert finding.prescription.safety == "changes-results"
    assert finding.confidence == "medium"


@pytest.mark.parametrize(("copy", "status"), [(COPIES_FELT.value, "found"), (COPIES_FELT.value * 0.99, "ruled-out")])
def test_copies_just_below_the_threshold_are_not_felt(copy, status):
    assert answer("payload-too-wide", wide(copy=copy)).status == status


@pytest.mark.parametrize(
    "signs",
    [
        {"size": WIDE.value - 1},  # launch-bound: a copy that takes as long as its start
        {"pinned": PINNED.value - 0.01},  # unpinned-memory
        {"blocks": BLOCKING.value},  # blocking-h2d
    ],
)
def test_its_neighbours_are_other_illnesses(signs):
    assert answer("payload-too-wide", wide(**signs)).status == "ruled-out"
