"""pin-thread-contention: found where the pin thread is full and the workers are not."""

from __future__ import annotations

import pytest
from ailing import answer, on_a_gpu, workers_busy
from builders import exact

from loaderdoctor.causes.main_process.pin_thread_contention import BUSY, REPINNED, WORKERS_BUSY


def pinning(*, thread=0.95, workers=0.3, wait=0.3, allocations=0.0, **settings):
    one = workers_busy(wait=wait, worker_busy_share=exact(workers), settings={"pin_memory": True, **settings})
    return on_a_gpu(one, pin_busy_share=thread, host_allocations_per_step=allocations)


def test_found_with_a_bound_that_may_be_nothing():
    finding = answer("pin-thread-contention", pinning())
    assert (finding.status, finding.gain.speedup.low) == ("found", 1.0)
    assert finding.gain.speedup.high == pytest.approx(1 / 0.7)
    assert "one tensor" in finding.prescription.advice


def test_varying_shapes_get_advice_of_their_own():
    finding = answer("pin-thread-contention", pinning(allocations=REPINNED.value))
    assert "fixed shapes" in finding.prescription.advice


@pytest.mark.parametrize(("thread", "status"), [(BUSY.value, "found"), (BUSY.value - 0.01, "ruled-out")])
def test_a_thread_just_below_the_threshold_keeps_up(thread, status):
    assert answer("pin-thread-contention", pinning(thread=thread)).status == status


@pytest.mark.parametrize(
    "signs",
    [{"workers": WORKERS_BUSY.value}, {"wait": 0.01}],  # too-few-workers, gpu-bound
)
def test_its_neighbours_are_other_illnesses(signs):
    assert answer("pin-thread-contention", pinning(**signs)).status == "ruled-out"


def test_without_a_pin_thread_it_cannot_be():
    assert answer("pin-thread-contention", pinning(pin_memory=False)).status == "not-applicable"
