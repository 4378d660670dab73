"""What is wait beside next(): handing a batch over, ending an iterator, giving one up."""

from __future__ import annotations

from dataclasses import replace

import builders
import numpy as np
import pytest

from loaderdoctor.analyse import signals_of
from loaderdoctor.probe.layout import KIND_OF, KINDS

UNIT_NS = 10_000_000
EPOCH = "wccc" * 40


def with_records(run, kind, rows):
    """The run with records of one kind in its training process."""
    names = KINDS[KIND_OF[kind]][1]
    columns = {name: np.array([row.get(name, 0) for row in rows], dtype=np.int64) for name in names}
    main = run.processes[0]
    return replace(run, processes=(replace(main, tables={**main.tables, kind: columns}), *run.processes[1:]))


def handed_over(run, units):
    """Every sixteenth step was listened to, and the loop had its batch so much later."""
    calls = run.processes[0].tables["next"]
    rows = [
        {"iterator": calls["iterator"][k], "ordinal": calls["ordinal"][k], "begin_ns": calls["end_ns"][k]}
        | {"end_ns": calls["end_ns"][k] + int(units * UNIT_NS)}
        for k in range(1, len(calls["ordinal"]), 16)
    ]
    return with_records(run, "handed_over", rows)


@pytest.mark.parametrize(("units", "share"), [(0, 0.25), (1, 0.5), (2, 0.75)])
def test_handing_a_batch_over_is_wait_and_no_computing(units, share):
    signals = signals_of(handed_over(builders.run_from("[" + EPOCH + "]"), units))
    assert signals.starved_share.value == pytest.approx(share, abs=0.01)
    assert signals.steps.compute_share.value == pytest.approx(1 - share, abs=0.01)


def test_a_listener_that_was_late_leaves_something_to_compute():
    signals = signals_of(handed_over(builders.run_from("[" + EPOCH + "]"), 50))
    assert 0.9 < signals.starved_share.value < 0.99


def test_an_iterator_that_is_given_up_is_waited_for_once():
    """Each batch from an iterator of its own, which is ended after next() has returned: draw a batch, throw the rest away."""
    run = builders.run_from("".join("[gwcccb" for _ in range(40)))
    calls = run.processes[0].tables["next"]
    rows = [
        {"iterator": iterator, "begin_ns": end, "end_ns": end + UNIT_NS}
        for iterator, end in zip(calls["iterator"], calls["end_ns"], strict=True)
    ]
    plain, ended = signals_of(run), signals_of(with_records(run, "shutdown", rows))
    assert plain.starved_share.value == pytest.approx(2 / 5, abs=0.03)
    assert ended.starved_share.value == pytest.approx(3 / 5, abs=0.03)


def test_workers_that_end_inside_the_last_next_are_not_counted_twice():
    run = builders.run_from("[" + EPOCH + "ss|" + EPOCH + "]")
    calls = run.processes[0].tables["next"]
    last = np.flatnonzero(calls["status"] == 1)[0]
    row = {"iterator": calls["iterator"][last], "begin_ns": calls["begin_ns"][last] + 1}
    row["end_ns"] = calls["end_ns"][last] - 1
    plain, ended = signals_of(run), signals_of(with_records(run, "shutdown", [row]))
    assert plain.starved_share.value == ended.starved_share.value
