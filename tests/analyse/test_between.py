"""What the loop does beside training: after the optimizer's step, and in steps that write much."""

from __future__ import annotations

from dataclasses import replace

import builders
import numpy as np
import pytest

from loaderdoctor.analyse import signals_of
from loaderdoctor.values import Measured, Missing

MS, MB = 10**6, 1 << 20
STEP = "wccocc"  # a wait, then the optimizer's step in the midst of the work
LONG = "wcco" + "c" * 40
STEPS = 40


def told(drawing, *, after_ms=20, written=None, collected=None):
    """The signals of the loop, whose thread computes so long after each optimizer's step."""
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
    return signals_of(replace(run, processes=(replace(process, tables=tables),))).loop


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


def saving(megabytes, every=4):
    drawing = "".join(LONG if k % every == every - 1 else STEP for k in range(STEPS))
    return told(drawing, written=[megabytes if k % every == every - 1 else 0 for k in range(STEPS)])


def test_rare_long_steps_that_write_are_saves():
    loop = saving(30)
    assert loop.save_share.value == pytest.approx((430 - 50 + 10) / (3 * 50 + 430), rel=0.1)
    assert loop.steps_per_save.value == pytest.approx(4, rel=0.1)
    assert loop.save_bytes.value == pytest.approx(30 * MB)


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
