"""Training that goes on over batches that are kept: optimizer steps after the last batch, so many units of time apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from builders import UNIT_S, run_from

from loaderdoctor.analyse import signals_of
from loaderdoctor.analyse.unasked import MOST_ROWS

UNIT_NS = round(UNIT_S * 1e9)
FIRST_PASS = "[" + "wwcco" * 30 + "]"  # half of it is a wait


def goes_on(steps, every=2):
    """The first pass, then `steps` optimizer steps without a batch."""
    run = run_from(FIRST_PASS)
    (main,) = run.processes
    optimizer = main.tables["optimizer_step"]
    last_ns = int(main.tables["next"]["end_ns"].max())
    later = {name: np.full(steps, column[-1]) for name, column in optimizer.items()}
    later["end_ns"] = last_ns + np.arange(1, steps + 1) * every * UNIT_NS
    joined = {name: np.concatenate([column, later[name]]) for name, column in optimizer.items()}
    main = replace(main, tables={**main.tables, "optimizer_step": joined})
    meta = replace(run.meta, ended_ns=max(run.meta.ended_ns, int(joined["end_ns"].max()) + UNIT_NS))
    return signals_of(replace(run, processes=(main,), meta=meta))


@pytest.mark.parametrize(("steps", "share"), [(0, 0.5), (54, 0.25), (162, 0.125)])
def test_time_goes_on_while_steps_go_on_asked_for_or_not(steps, share):
    # Three steps of the thirty are warm-up; the other 27 take 108 units and wait 54 of them.
    assert goes_on(steps).starved_share.value == pytest.approx(share, abs=0.02)


def test_the_batches_are_those_that_were_asked_for():
    signals = goes_on(54)
    assert (signals.main.batches, signals.training_steps) == (30, 27)
    assert signals.main.compute_s.value == pytest.approx(2 * UNIT_S, rel=0.05)


def test_what_is_trained_without_a_batch_is_training():
    train = next(phase for phase in goes_on(540).phases if phase.name == "train")
    assert train.seconds == pytest.approx((120 + 1080) * UNIT_S, rel=0.05)


def test_many_steps_are_told_as_few_rows_of_the_same_time():
    assert goes_on(3 * MOST_ROWS).starved_share.value == pytest.approx(54 / (108 + 6 * MOST_ROWS), rel=0.05)
