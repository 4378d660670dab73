"""page-cache-overflow: found where later passes read again what was pushed out of memory."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer
from builders import exact, machine
from slow_reads import passes, reading

from loaderdoctor.causes.storage.page_cache_overflow import AGAIN, PAGE_BYTES, PUSHED_OUT

JOB = 200e6  # bytes a second that the job reads from the disk


def overflowing(later=0.9, pushed_out=0.8, **overrides):
    run = reading(passes=passes(0.03, 0.03, 0.5, (1.0, later)), **overrides)
    refaults = exact(pushed_out * JOB / PAGE_BYTES, "pages/s")
    return replace(run, machine=machine(file_refaults_per_s=refaults))


def test_found_with_a_bound():
    finding = answer("page-cache-overflow", overflowing())
    assert (finding.status, finding.gain.basis) == ("found", "bound")
    assert "fit into memory" in finding.prescription.advice


@pytest.mark.parametrize(("later", "status"), [(AGAIN.value, "found"), (AGAIN.value - 0.01, "ruled-out")])
def test_later_passes_from_memory_are_a_cold_cache(later, status):
    assert answer("page-cache-overflow", overflowing(later)).status == status


@pytest.mark.parametrize(
    ("share", "status"), [(PUSHED_OUT.value + 0.01, "found"), (PUSHED_OUT.value - 0.01, "ruled-out")]
)
def test_what_never_was_in_memory_was_not_pushed_out(share, status):
    assert answer("page-cache-overflow", overflowing(pushed_out=share)).status == status


def test_swapping_without_reading_is_another_illness():
    assert answer("page-cache-overflow", overflowing(waits_for_disk=0.0)).status == "ruled-out"
