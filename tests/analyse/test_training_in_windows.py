"""What the training takes of the cores, of a run of which two windows were recorded, and samples all the time."""

from __future__ import annotations

from dataclasses import replace

import builders
import pytest
from drawn_runs import MAIN_PID, START_NS

from loaderdoctor.analyse import signals_of
from loaderdoctor.record.run import Samples
from loaderdoctor.record.stretches import Stretches

S = 1_000_000_000
WINDOW_S, FROM_S = 6, 100  # the second one begins so long after the first
IN_WINDOWS, BETWEEN = 2.0, 8.0  # cores


def cpu_s(at_s):
    """Of the training process since the run's start."""
    inside = min(at_s, WINDOW_S) + min(max(0.0, at_s - FROM_S), WINDOW_S)
    return IN_WINDOWS * inside + BETWEEN * (at_s - inside)


def test_only_what_ran_in_the_windows_counts():
    run = builders.run_from("[" + ".ccccccccc" * 120 + "]")  # 12 s, joined
    seen = Stretches.of(
        [(START_NS, START_NS + WINDOW_S * S), (START_NS + FROM_S * S, START_NS + (FROM_S + WINDOW_S) * S)]
    )
    rows = tuple(
        {"at_ns": START_NS + int(at_s * S), "processes": [{"pid": MAIN_PID, "cpu_s": cpu_s(at_s)}]}
        for at_s in (k / 2 for k in range(2 * (FROM_S + WINDOW_S)))
    )
    (main,) = run.processes
    run = replace(run, processes=(replace(main, seen=seen),), samples={"processes": Samples("processes", rows)})
    assert signals_of(run).training.cores.value == pytest.approx(IN_WINDOWS, rel=0.05)
