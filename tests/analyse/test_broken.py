"""What runs leave behind that crashed, or that somebody had to end."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import run_from
from drawn_runs import START_NS, WORKER_PID

from loaderdoctor.analyse import signals_of
from loaderdoctor.record.run import Samples
from loaderdoctor.record.stretches import NEVER, Stretches

DRAWING = "[" + "wc" * 30
SECOND = 10**9


def ended(by, *, environment=None, rows=(), shm=(), after_s=100.0, left_out_s=0, without=""):
    """`left_out_s`: of a long run, so much before its last half second was not looked at in detail."""
    run = run_from(DRAWING, num_workers=2)
    kept = [replace(one, tables={k: v for k, v in one.tables.items() if k != without}) for one in run.processes]
    run = replace(run, processes=tuple(kept))
    if left_out_s:
        joint_ns = run.meta.ended_ns - SECOND // 2
        later_ns = joint_ns + left_out_s * SECOND
        seen = Stretches.of([(0, joint_ns), (later_ns, NEVER)])
        run = replace(run, processes=tuple(replace(one, seen=seen) for one in run.processes))
        after_s += left_out_s
    meta = replace(
        run.meta,
        ended_by=by,
        ended_ns=run.meta.ended_ns + round(after_s * SECOND),
        environment=environment or {},
    )
    samples = {"processes": Samples("processes", tuple(rows)), "shm": Samples("shm", tuple(shm))}
    return signals_of(replace(run, meta=meta, samples=samples)).broken


def looks(pid, **fields):
    process = {"pid": pid, "started_ticks": 1, "cpu_s": 0.0, "reaped_cpu_s": 0.0, **fields}
    return {"at_ns": START_NS + SECOND, "processes": [process]}


@pytest.mark.parametrize(
    ("by", "stalled"), [("interrupt", True), ("signal", True), ("crash", False), ("script", False)]
)
def test_only_what_is_ended_from_outside_can_have_been_stuck(by, stalled):
    value = ended(by).stalled_s
    assert (value.value >= 100 if stalled else value.slug == "ended-by-itself") is True


def test_a_long_run_stood_still_from_its_last_call_on_and_not_for_what_was_left_out():
    assert ended("interrupt", left_out_s=1000).stalled_s.value == pytest.approx(ended("interrupt").stalled_s.value)


@pytest.mark.parametrize(("left_out_s", "silent"), [(0, 1), (1000, 0)])
def test_a_worker_without_batches_is_silent_only_where_all_of_the_run_was_looked_at(left_out_s, silent):
    broken = ended("interrupt", rows=[looks(WORKER_PID, waits={"lock": 5})], left_out_s=left_out_s, without="fetch")
    assert broken.silent_workers.value == silent


def test_a_run_that_ended_by_itself_says_nothing_of_the_rest_either():
    broken = ended("script", shm=[{"at_ns": START_NS, "size_bytes": 64, "free_bytes": 0}])
    assert broken.shm_least_free_bytes.slug == broken.descriptors_share.slug == "ended-by-itself"


def test_shared_memory_is_told_as_it_was_when_fullest():
    shm = [{"at_ns": START_NS, "size_bytes": 64, "free_bytes": free} for free in (60, 2, 40)]
    broken = ended("crash", shm=shm)
    assert (broken.shm_size_bytes.value, broken.shm_least_free_bytes.value) == (64, 2)


@pytest.mark.parametrize(
    ("limit", "share"),
    [({"ulimit_open_files": 1024}, 0.5), ({}, "no-limit"), ({"ulimit_open_files": None}, "no-limit")],
)
def test_descriptors_are_held_against_their_limit(limit, share):
    value = ended(
        "crash", environment=limit, rows=[looks(7, descriptors=512), looks(7, descriptors=100)]
    ).descriptors_share
    assert (getattr(value, "value", None) or value.slug) == share


def test_runs_before_descriptors_were_counted_say_so():
    assert ended("crash", rows=[looks(7)]).descriptors_share.slug == "not-counted"
