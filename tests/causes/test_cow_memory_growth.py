"""cow-memory-growth: found where workers' own copies make memory short."""

from __future__ import annotations

import pytest
from ailing import answer, on_a_cpu, workers_busy
from builders import exact, machine, worker

from loaderdoctor.causes import diagnose
from loaderdoctor.causes.environment.cow_memory_growth import MUCH
from loaderdoctor.values import Missing

LIMIT = 32e9


def growing(share=0.5, *, pressure=0.2, method="fork"):
    """Two workers that came to hold so much of the memory alone."""
    grown = tuple(worker(k, private_growth_bytes=exact(share * LIMIT / 2, "bytes")) for k in range(2))
    one = workers_busy(2, workers=grown, settings={"start_method": method})
    return on_a_cpu(
        one, machine=machine(memory_pressure_share=exact(pressure), memory_limit_bytes=exact(LIMIT, "bytes"))
    )


def test_found_and_memory_pressure_is_its_symptom():
    said = {one.cause: one for one in diagnose(growing()).findings}
    assert said["cow-memory-growth"].status == "found"
    assert said["memory-pressure"].explained_by == "cow-memory-growth"


@pytest.mark.parametrize(("share", "status"), [(MUCH.value * 1.01, "found"), (MUCH.value * 0.99, "ruled-out")])
def test_small_growth_is_not_what_makes_memory_short(share, status):
    assert answer("cow-memory-growth", growing(share)).status == status


def test_growth_costs_no_time_while_memory_is_left():
    assert answer("cow-memory-growth", growing(pressure=0.0)).status == "ruled-out"


def test_spawned_workers_share_nothing_that_they_could_copy():
    assert answer("cow-memory-growth", growing(method="spawn")).status == "not-applicable"


def test_workers_that_ended_too_soon_to_be_looked_at_give_no_data():
    hidden = tuple(worker(k, private_growth_bytes=Missing("private-not-measured", "Too short.")) for k in range(2))
    run = on_a_cpu(workers_busy(2, workers=hidden), machine=machine(memory_pressure_share=exact(0.2)))
    assert answer("cow-memory-growth", run).status == "no-data"
