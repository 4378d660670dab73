"""memory-pressure: found where tasks wait for memory."""

from __future__ import annotations

import pytest
from ailing import answer, fed, on_a_cpu, workers_busy
from builders import exact, machine

from loaderdoctor.causes.environment.memory_pressure import SHORT
from loaderdoctor.values import Missing


def short(pressure=0.3, **overrides):
    return on_a_cpu(workers_busy(**overrides), machine=machine(memory_pressure_share=exact(pressure)))


def test_found_with_less_to_hold():
    finding = answer("memory-pressure", short())
    assert (finding.status, finding.gain.basis) == ("found", "bound")
    assert finding.gain.speedup.high == pytest.approx(1 / 0.7)


@pytest.mark.parametrize(("share", "status"), [(SHORT.value, "found"), (SHORT.value - 0.01, "ruled-out")])
def test_waits_below_the_noise_are_none(share, status):
    assert answer("memory-pressure", short(share)).status == status


def test_a_cache_that_is_too_small_waits_for_the_disk_and_not_for_memory():
    run = on_a_cpu(workers_busy(), machine=machine(memory_pressure_share=exact(0.0), file_refaults_per_s=exact(1e5)))
    assert answer("memory-pressure", run).status == "ruled-out"


def test_a_fed_training_does_not_feel_it():
    run = on_a_cpu(fed(), machine=machine(memory_pressure_share=exact(0.3)))
    assert answer("memory-pressure", run).status == "ruled-out"


def test_a_kernel_that_does_not_say_gives_no_data():
    run = on_a_cpu(workers_busy(), machine=machine(memory_pressure_share=Missing("not-readable", "Not shown.")))
    assert answer("memory-pressure", run).status == "no-data"
