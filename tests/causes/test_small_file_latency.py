"""small-file-latency: found where batches wait for a disk that delivers small pieces."""

from __future__ import annotations

import pytest
from ailing import answer
from builders import around, exact
from slow_reads import LINE, disk, reading

from loaderdoctor.causes.storage.reading import FROM_DISK, LARGE_REQUESTS


def pieces(size, **overrides):
    """A disk that delivers so many bytes at a time."""
    return disk(reads_per_s=exact(1000, "reads/s"), read_bytes_per_s=exact(1000 * size, "bytes/s"), **overrides)


def test_found_with_a_file_for_many_as_the_cure():
    finding = answer("small-file-latency", reading(of=pieces(4096)))
    assert (finding.status, finding.gain.basis) == ("found", "bound")
    assert finding.prescription.actions[0].site == LINE


@pytest.mark.parametrize(("size", "status"), [(LARGE_REQUESTS.value - 1, "found"), (LARGE_REQUESTS.value, "ruled-out")])
def test_large_pieces_are_the_disks_bandwidth(size, status):
    assert answer("small-file-latency", reading(of=pieces(size))).status == status


@pytest.mark.parametrize(("share", "status"), [(FROM_DISK.value, "found"), (FROM_DISK.value - 0.01, "ruled-out")])
def test_small_files_in_memory_wait_for_no_disk(share, status):
    assert answer("small-file-latency", reading(of=pieces(4096), waits_for_disk=share)).status == status


def test_a_network_drive_is_another_illness():
    far = pieces(4096, kind="fuse", file_system="fuse.sshfs", busy_share=around(0.1))
    assert answer("small-file-latency", reading(of=far)).status == "not-applicable"
