"""What the loop does beside training: after the optimizer's step, and in steps that write much."""

from __future__ import annotations

from dataclasses import replace

import builders
import numpy as np
import pytest

from loaderdoctor.analyse import signals_of
from loaderdoctor.record.stretches import NEVER, Stretches
from loaderdoctor.values import Measured, Missing

MS, MB, SECOND = 10**6, 1 << 20, 10**9
STEP = "wccocc"  # a wait, then the optimizer's step in the midst of the work
LONG = "wcco" + "c" * 40
STEPS = 40


def told(drawing, *, after_ms=20, written=None, collected=None, gaps_after=()):
    """The signals of the loop, whose thread computes so long after each optimizer's step; a long run leaves out time after some."""
    run = builders.run_from("[" + drawing)
    (process,) = run.processes
    optimizer = dict(process.tables["optimizer_step"])
    count = len(optimizer["end_ns"])
    asked_ns = 1 + np.arange(count) * 100 * MS
    optimizer["asked_cpu_ns"] = asked_ns
    optimizer["cpu_ns"] = asked_ns + (100 - after_ms) * MS
    tables = {**process.tables, "optimizer_step": optimizer}
    if written is not None:
        rows = {name: [] for name in ("iterator", "ordinal", "at_ns", "blocks_out", "full_collections")}
        calls = process.tables["next"]
        totals = np.cumsum([0, *written]), np.cumsum([0, *(collected or [0] * len(written))])
        for ordinal, (blocks, full) in enumerate(zip(*totals, strict=True)):
            at_ns = calls["begin_ns"][min(ordinal, len(calls["begin_ns"]) - 1)]
            for name, value in zip(rows, (calls["iterator"][0], ordinal, at_ns, blocks * MB // 512, full), strict=True):
                rows[name].append(value)
        tables["since_start"] = {name: np.array(values, dtype=np.int64) for name, values in rows.items()}
    seen = apart([process.tables["next"]["begin_ns"][step + 1] for step in gaps_after]) if gaps_after else None
    return signals_of(replace(run, processes=(replace(process, tables=tables, seen=seen),))).loop


def apart(joints_ns):
    """Stretches between which a second each was left out."""
    begins = [0, *(at_ns + k * SECOND for k, at_ns in enumerate(joints_ns, 1))]
    ends = [*(at_ns + k * SECOND for k, at_ns in enumerate(joints_ns)), NEVER]
    return Stretches.of(list(zip(begins, ends, strict=True)))


@pytest.mark.parametrize(("after_ms", "share"), [(20, 0.4), (2, 0.04)], ids=["computes", "waits"])
def test_computing_after_the_optimizers_step_counts_and_waiting_does_not(after_ms, share):
    loop = told(STEP * STEPS, after_ms=after_ms)
    assert loop.after_step_share.value == pytest.approx(share, rel=0.1)


def test_where_an_optimizer_steps_once_for_several_batches_nothing_is_known():
    assert isinstance(told(("wccc" + STEP) * STEPS).after_step_share, Missing)


def test_no_more_than_the_time_that_passed():
    assert told(STEP * STEPS, after_ms=90).after_step_share.value == pytest.approx(0.4, rel=0.1)


def test_a_run_that_did_not_record_it_has_no_data():
    loop = signals_of(builders.run_from("[" + STEP * STEPS)).loop
    assert isinstance(loop.after_step_share, Missing)
    assert isinstance(loop.save_share, Missing)


def saving(megabytes, every=4, gaps_after=()):
    drawing = "".join(LONG if k % every == every - 1 else STEP for k in range(STEPS))
    written = [megabytes if k % every == every - 1 else 0 for k in range(STEPS)]
    return told(drawing, written=written, gaps_after=gaps_after)


def test_rare_long_steps_that_write_are_saves():
    loop = saving(30)
    assert loop.save_share.value == pytest.approx((430 - 50 + 10) / (3 * 50 + 430), rel=0.1)
    assert loop.steps_per_save.value == pytest.approx(4, rel=0.1)
    assert loop.save_bytes.value == pytest.approx(30 * MB)


def test_what_was_written_while_nobody_looked_is_charged_to_no_step():
    assert saving(30, gaps_after=range(3, STEPS, 4)).save_share.value == 0


def test_a_gap_elsewhere_takes_no_save_away():
    assert saving(30, gaps_after=[4]).save_bytes.value == pytest.approx(30 * MB)


def test_long_steps_that_write_nothing_are_none():
    assert saving(0).save_share.value == 0


def test_steps_that_all_write_are_none():
    loop = told(STEP * STEPS, written=[30] * STEPS)
    assert isinstance(loop.save_share, Measured)
    assert loop.save_share.value == 0


def test_collections_in_the_loop():
    drawing = "".join("wccocccc" if k % 2 else STEP for k in range(STEPS))
    loop = told(drawing, written=[0] * STEPS, collected=[k % 2 for k in range(STEPS)])
    assert loop.collected_share.value == pytest.approx(20 / 120, rel=0.1)
