"""audio-on-the-fly: found where that work takes the CPUs, at its place, and never where something else does."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, computing, hot, on_a_cpu
from builders import around, exact

from loaderdoctor.causes.cpu_work.cures import AT_WORK, COMPUTED, MAIN_PART


def test_found_at_its_place_with_a_gain_and_no_setting():
    finding = answer("audio-on-the-fly", on_a_cpu(computing(audio=0.8, places=(hot("audio"),))))
    assert (finding.status, finding.prescription.settings) == ("found", {})
    assert finding.gain.speedup.best > 1.3
    assert finding.gain.basis == "simulated"
    (action,) = finding.prescription.actions
    assert (action.kind, action.site.line, bool(action.example)) == ("code", 41, True)
    assert finding.evidence[0].text.startswith("Photos.__getitem__ (photos.py:41)")


@pytest.mark.parametrize(
    ("share", "status"), [(MAIN_PART.value + 0.01, "found"), (MAIN_PART.value - 0.01, "ruled-out")]
)
def test_a_small_part_of_the_work_is_not_it(share, status):
    finding = answer("audio-on-the-fly", on_a_cpu(computing(audio=share)))
    assert finding.status == status
    assert finding.evidence[0].value == pytest.approx(share) or status == "found"


def test_it_is_not_what_looks_alike():
    """cpu-augment: transforms that are none of audio."""
    finding = answer("audio-on-the-fly", on_a_cpu(computing(transform=0.8)))
    assert (finding.status, finding.evidence[0].value) == ("ruled-out", 0.0)


@pytest.mark.parametrize(
    "signals",
    [
        {"worker_busy_share": around(AT_WORK.value - 0.02, spread=0.01)},
        {"fetch_cpu_share": around(COMPUTED.value - 0.02, spread=0.01), "fetch_run_queue_share": exact(0.0)},
    ],
    ids=["idle", "waiting"],
)
def test_workers_that_idle_or_wait_have_another_illness(signals):
    assert answer("audio-on-the-fly", on_a_cpu(replace(computing(audio=0.8), **signals))).status == "ruled-out"


def test_free_cores_that_gain_as_much_go_first():
    finding = answer("audio-on-the-fly", on_a_cpu(computing(1, cores=16.0, audio=0.4)))
    assert finding.status == "ruled-out"
    assert finding.evidence[0].text.startswith("Cores are free")
