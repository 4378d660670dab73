"""storage-bandwidth: found where a full disk delivers large pieces, and batches wait for it."""

from __future__ import annotations

import pytest
from ailing import answer
from builders import around, exact
from slow_reads import LINE, disk, reading

from loaderdoctor.causes import diagnose
from loaderdoctor.causes.storage.reading import FROM_DISK, LARGE_REQUESTS
from loaderdoctor.causes.storage.storage_bandwidth import BUSY_DISK
from loaderdoctor.values import Missing


def test_found_with_a_bound_and_at_the_line_that_reads():
    finding = answer("storage-bandwidth", reading())
    assert (finding.status, finding.gain.basis, finding.prescription.settings) == ("found", "bound", {})
    assert finding.gain.speedup.high == pytest.approx(1 / (1 - 0.33 * 0.8 / 0.99))  # waits for a core aside
    assert finding.prescription.actions[0].site == LINE


def test_it_takes_the_place_of_too_few_workers():
    said = {one.cause: one for one in diagnose(reading()).findings}
    assert (said["too-few-workers"].status, said["too-few-workers"].explained_by) == ("explained", "storage-bandwidth")


@pytest.mark.parametrize(("share", "status"), [(FROM_DISK.value, "found"), (FROM_DISK.value - 0.01, "ruled-out")])
def test_batches_that_hardly_wait_for_a_disk_are_held_up_by_something_else(share, status):
    assert answer("storage-bandwidth", reading(waits_for_disk=share)).status == status


@pytest.mark.parametrize(("busy", "status"), [(BUSY_DISK.value, "found"), (BUSY_DISK.value - 0.01, "ruled-out")])
def test_a_disk_that_idles_is_not_full(busy, status):
    assert answer("storage-bandwidth", reading(of=disk(busy_share=exact(busy)))).status == status


def test_small_pieces_are_another_illness():
    small = disk(reads_per_s=around(9000, "reads/s"), read_bytes_per_s=around(9000 * 4096, "bytes/s"))
    finding = answer("storage-bandwidth", reading(of=small))
    assert (finding.status, finding.evidence[0].value) == ("ruled-out", 4096)
    assert finding.evidence[0].threshold == LARGE_REQUESTS.value


def test_data_on_another_machine_is_no_disk_of_this_one():
    assert answer("storage-bandwidth", reading(of=disk(kind="network", file_system="nfs4"))).status == "not-applicable"


def test_a_hidden_disk_says_nothing():
    hidden = Missing("no-block-device", "The disk is hidden.")
    finding = answer("storage-bandwidth", reading(of=disk(device=None, reads_per_s=hidden, read_bytes_per_s=hidden)))
    assert (finding.status, finding.reasons) == ("no-data", ("The disk is hidden.",))
