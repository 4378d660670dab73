"""payload-too-wide: found where well-made copies are still felt, for their bytes."""

from __future__ import annotations

import pytest
from ailing import answer, fed, on_a_cpu, on_a_gpu, workers_busy
from builders import around, exact

from loaderdoctor.causes.gates import BLOCKING, COPIES_FELT, PINNED
from loaderdoctor.causes.workers.payload_too_wide import MOSTLY, WIDE


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


def stacked(share=0.6, **overrides):
    """Two workers that spend their time on copying samples into batches of 32 MiB, on two cores."""
    return workers_busy(
        2,
        cores=2.0,
        work={"cpu_s": 0.05, "blocked_s": 0.0, "compute_s": 0.02, "wait_s": 0.02},
        **{
            "exposed_wait_share": around(0.5, spread=0.03),
            "settings": {"collate": "torch.utils.data._utils.collate.default_collate"},
            "batch_bytes": exact(32 << 20, "bytes"),
            "collate_s": exact(0.05 * share, "s"),
            "fetch_s": exact(0.05, "s"),
            **overrides,
        },
    )


def test_without_a_device_it_is_the_way_out_of_the_workers():
    finding = answer("payload-too-wide", on_a_cpu(stacked(), measured_s=180 * 0.04))
    assert (finding.status, finding.gain.basis) == ("found", "simulated")
    assert finding.prescription.settings == {}


@pytest.mark.parametrize(("share", "status"), [(MOSTLY.value, "found"), (MOSTLY.value - 0.01, "ruled-out")])
def test_samples_that_cost_more_than_stacking_them_are_another_illness(share, status):
    assert answer("payload-too-wide", on_a_cpu(stacked(share), measured_s=180 * 0.04)).status == status


def test_a_collate_function_of_the_scripts_own_is_another_illness():
    one = stacked(settings={"collate": "__main__.pad"})
    assert answer("payload-too-wide", on_a_cpu(one)).status == "not-applicable"
