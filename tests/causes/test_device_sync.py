"""device-sync: found where waiting for the device costs the run-ahead that would hide the wait for data."""

from __future__ import annotations

import pytest
from ailing import answer, on_a_gpu, workers_busy
from builders import exact

from loaderdoctor.causes.main_process.device_sync import DRAINED, SYNCED, WAITED


def synced(*, wait=0.3, syncs=1.0, drained=1.0, sync=0.5):
    one = workers_busy(0, wait=wait)
    return on_a_gpu(one, syncs_per_step=exact(syncs, "syncs"), drained_share=drained, sync_share=sync)


def test_found_with_the_shorter_of_the_two_waits():
    finding = answer("device-sync", synced())
    assert (finding.status, finding.gain.basis) == ("found", "bound")
    assert finding.gain.speedup.high == pytest.approx(1 / 0.7, rel=0.01)
    assert answer("device-sync", synced(sync=0.1)).gain.speedup.high == pytest.approx(1 / 0.9, rel=0.01)
    assert ".item()" in finding.prescription.advice


@pytest.mark.parametrize(
    ("at", "below"),
    [
        ({"syncs": SYNCED.value}, {"syncs": SYNCED.value - 0.01}),  # a loss read now and then
        ({"drained": DRAINED.value}, {"drained": DRAINED.value - 0.01}),  # the host runs ahead all the same
        ({"sync": WAITED.value}, {"sync": WAITED.value - 0.001}),  # the device is done before the host asks
    ],
)
def test_each_sign_alone_is_not_enough(at, below):
    assert answer("device-sync", synced(**at)).status == "found"
    assert answer("device-sync", synced(**below)).status == "ruled-out"


def test_a_sync_before_a_batch_that_is_there_costs_nothing():
    assert answer("device-sync", synced(wait=0.01)).status == "ruled-out"
