"""warmup-compile: the limit of a run that is fed and whose first steps take much of its time."""

from __future__ import annotations

import pytest
from ailing import answer, fed, on_a_cpu, workers_busy
from builders import exact, run_from

from loaderdoctor.analyse import signals_of
from loaderdoctor.analyse.signals import TrainingSignals
from loaderdoctor.causes.not_the_loader.warmup_compile import EARLY, MATERIAL


def slow(one, share=0.4, early=0.95):
    return on_a_cpu(one, training=TrainingSignals(slow_share=exact(share), slow_early_share=exact(early)))


@pytest.mark.parametrize(("share", "status"), [(MATERIAL.value, "found"), (MATERIAL.value - 0.01, "ruled-out")])
def test_less_than_a_fifth_is_what_any_training_needs(share, status):
    assert answer("warmup-compile", slow(fed(), share)).status == status


@pytest.mark.parametrize(("early", "status"), [(EARLY.value, "found"), (EARLY.value - 0.01, "ruled-out")])
def test_slow_steps_that_come_again_are_another_illness(early, status):
    assert answer("warmup-compile", slow(fed(), early=early)).status == status


def test_slow_first_steps_that_wait_for_data_are_another_illness():
    assert answer("warmup-compile", slow(workers_busy())).status == "ruled-out"


@pytest.mark.parametrize(
    ("drawing", "early"), [("wc" + "c" * 60 + "wc" * 60, 1.0), ("wc" * 60 + "w" + "c" * 60 + "wc", 0.0)]
)
def test_slow_steps_are_told_by_what_they_compute(drawing, early):
    training = signals_of(run_from("[" + drawing)).training
    assert training.slow_share.value == pytest.approx(60 / (60 + len(drawing) - 60), abs=0.05)
    assert training.slow_early_share.value == early
