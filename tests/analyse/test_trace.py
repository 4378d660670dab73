"""The steps under the profiler are no part of the measurement, and what it saw is said beside the device clock."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from builders import run_from

from loaderdoctor import analyse
from loaderdoctor.analyse.trace import before_windows, trace_notes
from loaderdoctor.probe.layout import KINDS


def with_window(run, at_step, **fields):
    """The run with a window that begins at the next() of a step."""
    process = run.processes[0]
    begin_ns = int(process.tables["next"]["begin_ns"][at_step])
    end_ns = int(process.tables["next"]["end_ns"][-1])
    record = dict.fromkeys(KINDS[33][1], 0) | {"begin_ns": begin_ns, "first_ns": begin_ns, "end_ns": end_ns} | fields
    tables = dict(process.tables) | {"trace_window": {name: np.array([value]) for name, value in record.items()}}
    return replace(run, processes=(replace(process, tables=tables), *run.processes[1:]))


def test_its_steps_are_left_out():
    run = run_from("[" + "wc" * 40 + "]")
    assert len(before_windows(with_window(run, 30)).processes[0].tables["next"]["begin_ns"]) == 30
    assert before_windows(run) == run


def test_the_share_is_that_of_the_steps_before_it():
    slowed = run_from("[" + "wccc" * 40 + "wwwwwwwwwwc" * 10 + "]")
    plain = analyse.signals_of(run_from("[" + "wccc" * 40 + "]")).starved_share
    told = analyse.signals_of(with_window(slowed, 40)).starved_share
    assert abs(told.value - plain.value) < 0.02


def test_what_the_profiler_saw_is_said_in_shares():
    run = with_window(run_from("[" + "wc" * 40 + "]"), 30, steps=10, idle_ns=0, idle_in_next_ns=0)
    ((slug, text),) = trace_notes(run.processes[0])
    assert slug == "trace-window"
    assert "10 more steps" in text
    assert "0.0% of the time" in text


def test_an_empty_window_says_nothing():
    assert trace_notes(with_window(run_from("[" + "wc" * 40 + "]"), 30).processes[0]) == []
