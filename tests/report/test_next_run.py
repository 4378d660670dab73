"""The next command: another one than was typed, where another number of steps would do."""

from dataclasses import replace

import pytest
from report_samples import SAMPLES, run, series

from loaderdoctor.report.next_run import command_again, first_tenth, steps_that_would_do
from loaderdoctor.report.view import view
from loaderdoctor.values import Measured

TYPED = "train.py --data /mnt/leaves --hf-token '***'"


def wide(low, best, high, steps):
    """A run whose share is not known well enough."""
    sample = SAMPLES["unknown"]()
    signals = replace(
        sample.signals,
        starved_share=Measured(best, low, high, steps, "share"),
        steps=replace(sample.signals.steps, count=steps, excluded={}),
    )
    return sample._replace(signals=signals)


@pytest.mark.parametrize(
    ("low", "best", "high", "had", "wanted"),
    [
        (0.0, 0.075, 0.15, 40, 100),  # half the width would do, but no verdict is made of few steps
        (0.0, 0.075, 0.15, 400, 900),  # 2.25 times as many
        (0.02, 0.04, 0.16, 400, 1600),  # from below: the high end must come below 10 %
        (0.0, 0.026, 0.9, 40, None),  # no number of steps makes that narrow
    ],
)
def test_as_many_steps_as_make_the_interval_narrow_enough(low, best, high, had, wanted):
    sample = wide(low, best, high, had)
    assert steps_that_would_do(sample.signals, sample.diagnosis) == wanted


@pytest.mark.parametrize(
    ("ended_by", "said"),
    [
        ("script", "The script ended by itself after 7 steps past warm-up."),
        ("crash", "Only 7 steps past warm-up came before the end."),
        ("steps", "7 steps past warm-up do not tell."),
    ],
)
def test_too_few_steps_ask_for_more_of_them(ended_by, said):
    sample = SAMPLES["not_enough_data"]()
    fix = view(*sample._replace(run=run(ended_by=ended_by, options={"steps": 10}))).fix
    assert fix.commands == (f"loaderdoctor profile --steps 100 {TYPED}",)
    assert fix.sentences[0].startswith(said)


@pytest.mark.parametrize(
    ("steps", "tenth"),
    [
        (series(999, 0.1, 0.1), None),
        (series(2000, 0.1, 0.1), 200),
        ((*series(200, 0.1, 0.1), *series(1800, 0.001, 0.1)), None),
    ],
    ids=["short", "steady", "only the first ones wait"],
)
def test_the_first_tenth_is_enough_where_it_says_the_same(steps, tenth):
    sample = SAMPLES["healthy_plain"]()
    signals = replace(sample.signals, steps=replace(sample.signals.steps, series=steps, count=len(steps)))
    assert first_tenth(signals) == tenth
    option = f"--steps {tenth} " if tenth else ""
    assert command_again(sample.run, signals, sample.diagnosis) == f"loaderdoctor profile {option}{TYPED}"
    entries = view(sample.run, signals, sample.diagnosis).sure.entries
    assert any(f"--steps {tenth} is enough the next time" in text for _, text in entries) is (tenth is not None)
