"""shm-exhausted: found where a broken run's batches on their way filled all shared memory."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, on_a_cpu, workers_busy
from builders import exact

from loaderdoctor.analyse.signals import BrokenSignals
from loaderdoctor.causes.order.shm_exhausted import LEFT, NEEDED

MIB = 1 << 20


def full(size=64.0, free=0.5, batch=16.0, workers=4):
    """Eight batches of 16 MiB that may be on their way in 64 MiB."""
    one = replace(workers_busy(workers), batch_bytes=exact(batch * MIB, "bytes"))
    broken = BrokenSignals(shm_size_bytes=exact(size * MIB, "bytes"), shm_least_free_bytes=exact(free * MIB, "bytes"))
    return replace(on_a_cpu(one), broken=broken)


def test_found_with_its_size():
    finding = answer("shm-exhausted", full())
    assert finding.status == "found"
    assert "64 MiB" in finding.prescription.advice
    assert finding.prescription.actions[0].kind == "system"


@pytest.mark.parametrize(("batch", "status"), [(64 * NEEDED.value / 8, "found"), (6.0, "ruled-out")])
def test_few_batches_fill_nothing(batch, status):
    assert answer("shm-exhausted", full(batch=batch)).status == status


@pytest.mark.parametrize(("left", "status"), [(LEFT.value - 0.1, "found"), (LEFT.value, "ruled-out")])
def test_with_room_left_there_is_another_reason(left, status):
    assert answer("shm-exhausted", full(free=16 * left)).status == status


def test_a_run_that_ended_by_itself_had_enough():
    one = replace(workers_busy(), batch_bytes=exact(16 * MIB, "bytes"))
    assert answer("shm-exhausted", on_a_cpu(one)).status == "no-data"


def test_without_workers_nothing_is_handed_over():
    assert answer("shm-exhausted", full(workers=0)).status == "not-applicable"
