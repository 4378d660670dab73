"""Which stretches of a long process are recorded in detail: its room is never used up, and no part of its time is left out."""

from __future__ import annotations

from itertools import pairwise

import pytest

from loaderdoctor.probe.detail import JUDGED_AFTER_NS, MOST_COST, MOST_LEVEL, PARTS, WHOLE, Detail

MS = 1_000_000
MOST = 64_000_000
RECORD = 128


def lived(step_ns, steps, most=MOST, records=4, detail=None):
    """What a process that steps evenly uses of its room, and the steps that it told."""
    detail = detail or Detail(most)
    used, told = 0, []
    for number in range(steps):
        detail.changes(10**12 + number * step_ns, used)
        if not detail.passing:
            used += records * RECORD
            told.append(number)
    return detail, used, told


@pytest.mark.parametrize(("step_ns", "steps"), [(50_000, 1_500_000), (10 * MS, 1_500_000), (2000 * MS, 300_000)])
def test_a_process_stays_within_its_room_at_any_pace(step_ns, steps):
    _, used, told = lived(step_ns, steps)
    assert used <= MOST
    assert len(told) > MOST / RECORD / 4 / PARTS
    assert told[-1] > 0.8 * steps, "the end of the run is told too"


def test_a_short_process_tells_all():
    detail, _, told = lived(10 * MS, 10_000)
    assert (len(told), detail.level, detail.bits) == (10_000, 0, WHOLE)


def test_stretches_hold_many_steps_and_lie_evenly():
    detail, _, told = lived(10 * MS, 300_000)
    period = 1 << (detail.bits + detail.level)
    of_last_level = [number for number in told if (10**12 + number * 10 * MS) % period < 1 << detail.bits]
    starts = [b for a, b in pairwise(of_last_level) if b - a > 1]
    assert len(starts) >= 2 * PARTS
    assert len(of_last_level) / (len(starts) + 1) > 100
    gaps = [b - a for a, b in pairwise(starts)]
    assert max(gaps) - min(gaps) <= 1


def test_two_processes_of_one_pace_tell_the_same_stretches():
    assert lived(10 * MS, 100_000)[2] == lived(10 * MS, 100_000)[2]


def test_a_fork_keeps_its_parents_stretches_in_room_of_its_own():
    parent, _, _ = lived(10 * MS, 100_000)
    level, bits = parent.level, parent.bits
    parent.forked()
    assert (parent.level, parent.bits) == (level, bits)
    assert not parent.changes(0, 0) or parent.level == level
    _, used, _ = lived(10 * MS, 1000, detail=parent)
    assert used < MOST / PARTS
    assert parent.level == level


def weighed(share, seconds):
    """A process in which recording costs this share of steps of 10 ms."""
    detail = Detail(MOST)
    for number in range(100 * seconds):
        now_ns = 10**12 + number * 10 * MS
        detail.changes(now_ns, 0)
        detail.costs(int(share * 10 * MS) if not detail.passing else 0, now_ns)
    return detail


JUDGED_AFTER_S = JUDGED_AFTER_NS // 10**9


@pytest.mark.parametrize(
    ("share", "level"),
    [(0.5 * MOST_COST, 0), (1.5 * MOST_COST, 1), (3 * MOST_COST, 2), (1000 * MOST_COST, MOST_LEVEL)],
)
def test_a_process_that_would_feel_the_recording_has_less_of_it(share, level):
    assert weighed(share, 20 * JUDGED_AFTER_S).level == level


def test_a_few_seconds_do_not_judge_what_recording_costs():
    assert weighed(100 * MOST_COST, JUDGED_AFTER_S - 1).level == 0
