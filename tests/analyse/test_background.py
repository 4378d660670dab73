"""Batches that a thread of the script's own takes, drawn as that thread sees them; another one trains, by its CPU time."""

from __future__ import annotations

from dataclasses import replace

import builders
import numpy as np
import pytest
from drawn_runs import START_NS

from loaderdoctor.analyse import signals_of
from loaderdoctor.causes import diagnose
from loaderdoctor.record.stretches import NEVER, Stretches
from loaderdoctor.values import Missing

TRAINS = 99  # the thread
NEVER_HELD_UP = "[" + ("w" * 30 + "c") * 40
HELD_UP = "[" + ("w" * 20 + "c" * 11) * 40


def fetched_elsewhere(drawing, cpu_share, **changes):
    """The thread that trains computes for this share of the time."""
    run = builders.run_from(drawing, optimizer_thread=TRAINS)
    (main,) = run.processes
    optimizer = dict(main.tables["optimizer_step"])
    since_ns = optimizer["end_ns"] - optimizer["end_ns"][0]
    optimizer["cpu_ns"] = 1 + np.rint(cpu_share * since_ns).astype(np.int64)
    tables = {**main.tables, "optimizer_step": optimizer}
    return signals_of(replace(run, processes=(replace(main, **{"tables": tables, **changes}),)))


@pytest.mark.parametrize("cpu_share", [0.0, 0.3, 0.9])
def test_what_the_training_thread_does_not_compute_it_waits_where_the_other_is_never_held_up(cpu_share):
    signals = fetched_elsewhere(NEVER_HELD_UP, cpu_share)
    assert signals.starved_share.value == pytest.approx(1 - cpu_share, abs=0.02)
    assert signals.main.compute_s.value == pytest.approx(cpu_share * 0.31, abs=0.01)
    assert "CPU time" in dict(signals.notes)["background-consumer"]


def test_the_share_has_a_verdict():
    assert diagnose(fetched_elsewhere(NEVER_HELD_UP, 0.3)).status == "starving"


@pytest.mark.parametrize(
    ("drawing", "changes"),
    [
        (HELD_UP, {}),
        (NEVER_HELD_UP, {"seen": Stretches.of([(0, START_NS + 10**9), (START_NS + 2 * 10**9, NEVER)])}),
    ],
    ids=["the queue was full at times", "only stretches of it were looked at"],
)
def test_nothing_is_said_where_the_training_may_have_had_batches_waiting(drawing, changes):
    share = fetched_elsewhere(drawing, 0.3, **changes).starved_share
    assert isinstance(share, Missing)
    assert share.slug == "background-consumer"
