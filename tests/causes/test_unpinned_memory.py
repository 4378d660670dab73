"""unpinned-memory: found where slow copies from ordinary memory are felt."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, fed, gpu, on_a_gpu
from builders import exact

from loaderdoctor.causes.gates import COPIES_FELT, PINNED


def unpinned(*, copy=0.5, pinned=0.0, **device):
    """Steps of 10 ms of computing and as much copying as makes `copy` of the time; the host waits in the copies."""
    copy_s = 0.01 * copy / (1 - copy)
    one = fed()
    work = replace(
        one.workload,
        device_s=(0.01,) * 200,
        host_s=(0.0105 + copy_s,) * 200,
        copy_s=copy_s,
        batch_bytes=1_000_000,
    )
    return on_a_gpu(replace(one, workload=work), copy_share=copy, pinned_share=pinned, **device)


def test_found_with_a_gain_between_faster_and_free():
    finding = answer("unpinned-memory", unpinned())
    assert finding.status == "found"
    assert finding.prescription.settings == {"pin_memory": True}
    assert finding.prescription.memory_bytes > 0
    assert 1 < finding.gain.speedup.low < 1.9 < finding.gain.speedup.high


@pytest.mark.parametrize(
    ("copy", "status"), [(COPIES_FELT.value * 10, "found"), (COPIES_FELT.value * 0.99, "ruled-out")]
)
def test_copies_that_are_hardly_felt_need_no_pinning(copy, status):
    assert answer("unpinned-memory", unpinned(copy=copy)).status == status


@pytest.mark.parametrize(("pinned", "status"), [(PINNED.value - 0.01, "found"), (PINNED.value, "ruled-out")])
def test_copies_from_pinned_memory_are_another_illness(pinned, status):
    assert answer("unpinned-memory", unpinned(pinned=pinned)).status == status


def test_pinning_that_does_not_help_is_not_prescribed_again():
    run = unpinned()
    one = replace(run.loaders[0], settings=replace(run.loaders[0].settings, pin_memory=True))
    finding = answer("unpinned-memory", replace(run, loaders=(one,)))
    assert (finding.status, finding.prescription.settings) == ("found", {})
    assert "pin_memory()" in finding.prescription.advice


def test_a_loader_that_cannot_be_replayed_is_bounded_by_its_copies():
    run = unpinned()
    finding = answer("unpinned-memory", replace(run, loaders=(replace(run.loaders[0], workload=None),)))
    assert (finding.prescription.settings, finding.gain.basis) == ({"pin_memory": True}, "bound")
    assert not any("already" in reason for reason in finding.reasons)


def test_memory_that_host_and_device_share_cannot_be_pinned():
    run = replace(unpinned(), device=gpu(kind="mps", copy_share=exact(0.5), pinned_share=exact(0.0)))
    assert answer("unpinned-memory", run).status == "not-applicable"
