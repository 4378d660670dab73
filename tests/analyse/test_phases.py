"""Where the time of drawn runs goes."""

import builders
import numpy as np
import pytest

from loaderdoctor.analyse import signals_of
from loaderdoctor.analyse.nesting import own_times


@pytest.mark.parametrize(
    ("drawing", "units"),
    [
        ("xxxx", {"start-up": 4}),
        ("xx[gwwcwc]x", {"start-up": 2, "first-batch": 3, "train": 3, "other": 1}),
        ("[wcwc|ggwcwc]", {"first-batch": 1, "train": 6, "epoch-gap": 3}),
        ("[wcwcss|wcwc]", {"first-batch": 1, "train": 6, "epoch-gap": 3}),
        ("[wcwc]{gwcwcs}x[wcwc]", {"first-batch": 1, "train": 6, "eval": 6, "other": 1, "epoch-gap": 1}),
        ("[wcwc{gwcwc}cwc]", {"first-batch": 1, "train": 6, "eval": 5}),
        ("{wcwc}[wcwc]", {"first-batch": 1, "train": 3, "epoch-gap": 1, "eval": 3}),
        ("[wcwcb" + "xx", {"first-batch": 1, "train": 3, "other": 2}),
    ],
)
def test_phases(drawing, units):
    phases = signals_of(builders.run_from(drawing)).phases
    assert {phase.name: phase.seconds / builders.UNIT_S for phase in phases} == pytest.approx(units)


@pytest.mark.parametrize(
    ("drawing", "units"),
    [
        ("xx[gwwcwc]x", {"start-up": 0, "first-batch": 3, "train": 1, "other": 0}),
        ("[wcwcss|ggwcwc]", {"first-batch": 1, "train": 2, "epoch-gap": 3}),
        ("[wc]{gwcwcs}", {"first-batch": 1, "train": 0, "eval": 3}),
    ],
)
def test_waits_of_phases(drawing, units):
    phases = signals_of(builders.run_from(drawing)).phases
    assert {phase.name: phase.data_wait_s / builders.UNIT_S for phase in phases} == pytest.approx(units)


def test_a_run_whose_parent_was_killed_ends_with_its_last_record():
    run = builders.run_from("xx[wcwcwcw!")
    phases = signals_of(run).phases
    assert sum(phase.seconds for phase in phases) == pytest.approx(9 * builders.UNIT_S)


def test_clocks_that_differ_between_processes_leave_the_records_own_span():
    run = builders.run_from("xx[wcwcwc]", meta={"started_ns": 10**18, "ended_ns": 10**18 + 1})
    phases = signals_of(run).phases
    assert sum(phase.seconds for phase in phases) == pytest.approx(8 * builders.UNIT_S)


@pytest.mark.parametrize(
    ("stretches", "own"),
    [
        ([], []),
        ([(0, 10)], [10]),
        ([(0, 10), (2, 5)], [7, 3]),
        ([(0, 10), (2, 5), (3, 4)], [7, 2, 1]),
        ([(0, 5), (3, 8)], [3, 5]),
        ([(0, 2), (4, 6)], [2, 2]),
        ([(0, 5), (0, 5)], [0, 5]),
        ([(0, 9), (0, 4)], [5, 4]),
        ([(5, 5)], [0]),
    ],
)
def test_the_innermost_stretch_has_the_time(stretches, own):
    begin, end = (np.array([stretch[k] for stretch in stretches], dtype=np.int64) for k in (0, 1))
    assert own_times(begin, end).tolist() == own
