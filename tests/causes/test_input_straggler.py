"""input-straggler: found where the others wait for one rank's loader, and have their own batches in time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, on_a_cpu, workers_busy
from builders import exact

from loaderdoctor.analyse.signals import JobSignals
from loaderdoctor.causes import diagnose
from loaderdoctor.causes.main_process.input_straggler import IN_TURN, LESS, ONE_RANK, SATURATED


def straggling(*, last=0.6, others=0.05, part=0.99, held=0.6):
    job = JobSignals(
        processes=exact(2, "processes"),
        loading=exact(2, "processes"),
        last_wait_share=exact(last),
        others_wait_share=exact(others),
        held_share=exact(held),
        last_part=exact(part),
        last_rank=1,
    )
    return on_a_cpu(workers_busy(1, wait=last), ranks=2, job=job)


def test_found_with_the_rank_and_what_it_costs():
    finding = answer("input-straggler", straggling())
    assert finding.status == "found"
    assert "rank 1" in finding.prescription.advice
    assert finding.gain.speedup.best == pytest.approx(1 / (1 - 0.55))
    assert finding.prescription.settings["num_workers"] > 1


@pytest.mark.parametrize(("part", "status"), [(ONE_RANK.value, "found"), (ONE_RANK.value - 0.01, "ruled-out")])
def test_ranks_that_are_late_in_turn_are_another_illness(part, status):
    assert answer("input-straggler", straggling(part=part)).status == status


@pytest.mark.parametrize(("ratio", "status"), [(LESS.value - 0.01, "found"), (LESS.value, "ruled-out")])
def test_ranks_that_all_starve_are_another_illness(ratio, status):
    assert answer("input-straggler", straggling(others=0.6 * ratio)).status == status


def in_turn(*, job=0.78, own=(0.36, 0.48), busy=0.5):
    """Both ranks wait, at different steps: the job waits longer than either of them."""
    both = straggling(last=own[1], others=own[0], part=0.6)
    (loader,) = both.loaders
    slow = replace(loader, worker_busy_share=exact(busy))
    return replace(both, loaders=(slow,), starved_share=exact(job), rank_shares=own)


def test_ranks_whose_slow_samples_come_at_different_steps_hold_each_other_up_in_turn():
    finding = answer("input-straggler", in_turn())
    assert finding.status == "found"
    assert finding.prescription.settings == {}  # the batch that is late is made by one worker, however many there are
    assert (finding.gain.speedup.low, finding.gain.speedup.high) == (1, pytest.approx(1 / (1 - 0.78)))


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"own": (0.36, 0.78 * (1 - IN_TURN.value) - 0.01)}, "found"),
        ({"own": (0.36, 0.78 * (1 - IN_TURN.value) + 0.01)}, "ruled-out"),
        ({"busy": SATURATED - 0.01}, "found"),
        ({"busy": SATURATED}, "ruled-out"),
    ],
    ids=["long beyond", "alike", "workers with time to spare", "workers without"],
)
def test_ranks_that_wait_as_long_alone_or_whose_workers_are_too_few_are_not_late_in_turn(change, status):
    assert answer("input-straggler", in_turn(**change)).status == status


def test_a_rank_that_is_late_in_computing_is_unequal_work():
    assert answer("input-straggler", straggling(last=0.01, others=0.004)).status == "ruled-out"


def test_it_takes_the_place_of_what_makes_that_rank_late():
    diagnosis = diagnose(straggling())
    assert diagnosis.cause == "input-straggler"
    assert {one.status for one in diagnosis.findings if one.cause == "too-few-workers"} == {"explained"}


def test_one_process_waits_for_nobody():
    assert answer("input-straggler", on_a_cpu(workers_busy())).status == "not-applicable"
