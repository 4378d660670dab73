"""fork-deadlock: found where a run was ended from outside while a forked worker had never done anything."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, fed, on_a_cpu, workers_busy
from builders import exact, steps

from loaderdoctor.analyse.signals import BrokenSignals
from loaderdoctor.causes import diagnose
from loaderdoctor.causes.order.fork_deadlock import ASLEEP, SILENT, STALLED, THREADS


def stuck(one=None, **overrides):
    """A run in which a worker was silent for a minute and a half."""
    broken = {
        "stalled_s": exact(90.0, "s"),
        "silent_workers": exact(1.0, "workers"),
        "silent_waits_share": exact(1.0),
        "parent_threads": exact(5.0, "threads"),
        **overrides,
    }
    return replace(on_a_cpu(one or workers_busy()), broken=BrokenSignals(**broken))


def test_found_with_a_start_that_copies_no_lock():
    finding = answer("fork-deadlock", stuck())
    assert finding.status == "found"
    assert finding.prescription.settings == {"multiprocessing_context": "forkserver"}


def test_said_of_runs_that_stopped_too_early_for_a_verdict_and_of_no_healthy_one():
    early = replace(stuck(), steps=steps(count=3, excluded={}))
    assert [one.cause for one in diagnose(early).findings if one.status == "found"] == ["fork-deadlock"]
    assert not [one for one in diagnose(stuck(fed())).findings if one.status == "found"]


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        ("stalled_s", STALLED.value),
        ("silent_workers", SILENT.value),
        ("silent_waits_share", ASLEEP.value),
        ("parent_threads", THREADS.value),
    ],
)
def test_just_below_a_threshold_it_is_ruled_out(name, bound):
    assert answer("fork-deadlock", stuck(**{name: exact(bound)})).status == "found"
    assert answer("fork-deadlock", stuck(**{name: exact(bound * 0.98)})).status == "ruled-out"


def test_a_worker_that_waits_for_storage_is_another_illness():
    assert answer("fork-deadlock", stuck(silent_waits_share=exact(0.1))).status == "ruled-out"


@pytest.mark.parametrize("settings", [{"num_workers": 0}, {"start_method": "spawn"}])
def test_without_a_fork_no_lock_is_copied(settings):
    assert answer("fork-deadlock", stuck(workers_busy(settings=settings))).status == "not-applicable"


def test_a_run_that_ended_by_itself_was_not_stuck():
    finding = answer("fork-deadlock", on_a_cpu(workers_busy()))
    assert (finding.status, finding.reasons) == (
        "no-data",
        ("The run was not broken off: the script ended by itself.",),
    )
