"""numa-misplacement: found where the process is bound away from its device, and copies are felt."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, fed, on_a_gpu
from builders import exact

from loaderdoctor.analyse.signals import HardwareSignals
from loaderdoctor.causes.environment.numa_misplacement import COPIES_MATTER, NEAR


def far(near=0.0, *, copies=0.3):
    run = on_a_gpu(fed(), copy_share=copies)
    return replace(run, hardware=HardwareSignals(cpus_near_device=exact(near)))


def test_found_with_half_of_the_copies_to_gain():
    finding = answer("numa-misplacement", far())
    assert (finding.status, finding.gain.basis) == ("found", "bound")
    assert finding.gain.speedup.high == pytest.approx(1 / (1 - 0.15))


@pytest.mark.parametrize(("near", "status"), [(NEAR.value - 0.01, "found"), (NEAR.value, "ruled-out")])
def test_a_process_that_may_run_everywhere_is_not_bound_away(near, status):
    assert answer("numa-misplacement", far(near)).status == status


@pytest.mark.parametrize(
    ("copies", "status"), [(COPIES_MATTER.value, "found"), (COPIES_MATTER.value - 0.01, "ruled-out")]
)
def test_copies_that_hardly_count_gain_nothing_by_binding(copies, status):
    assert answer("numa-misplacement", far(copies=copies)).status == status


def test_a_machine_of_one_node_gives_no_data():
    assert answer("numa-misplacement", on_a_gpu(fed(), copy_share=0.3)).status == "no-data"
