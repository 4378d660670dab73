"""clock-throttled: found where the clock of busy CPUs falls during the run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, workers_busy
from builders import exact
from slow_reads import computing

from loaderdoctor.analyse.signals import HardwareSignals
from loaderdoctor.causes.environment.clock_throttled import BUSY, COMPUTES, STEADY


def slowing(change=0.6, *, cpu=0.9, busy=0.9):
    run = computing(workers_busy(2, fetch_cpu_share=exact(cpu)), cpu_busy_share=exact(busy))
    return replace(run, hardware=HardwareSignals(cpu_clock_change=exact(change, "times")))


def test_found_with_a_bound_by_what_the_clock_lost():
    finding = answer("clock-throttled", slowing())
    assert (finding.status, finding.gain.basis) == ("found", "bound")
    assert finding.gain.speedup.high == pytest.approx(1 / (1 - 0.33 * 0.4 * 0.9))


@pytest.mark.parametrize(("change", "status"), [(STEADY.value - 0.01, "found"), (STEADY.value, "ruled-out")])
def test_clocks_wander(change, status):
    assert answer("clock-throttled", slowing(change)).status == status


@pytest.mark.parametrize(("busy", "status"), [(BUSY.value, "found"), (BUSY.value - 0.01, "ruled-out")])
def test_idle_cpus_slow_down_by_design(busy, status):
    assert answer("clock-throttled", slowing(busy=busy)).status == status


def test_work_that_waits_is_not_slowed_by_a_clock():
    assert answer("clock-throttled", slowing(cpu=COMPUTES.value - 0.01)).status == "ruled-out"


def test_a_machine_that_hides_its_clock_gives_no_data():
    run = computing(workers_busy(2, fetch_cpu_share=exact(0.9)), cpu_busy_share=exact(0.9))
    assert answer("clock-throttled", run).status == "no-data"
