"""Steps that are too short to be measured one and all."""

from __future__ import annotations

import pytest

from loaderdoctor.probe.device.pace import BAR, COST_NS, HEARD_FIRST, HEARD_ONE_IN, Pace


def chosen_of(steps, step_ms):
    """For each step the number of steps that it stands for, 0 where it is not measured."""
    steps_before = [0]
    pace = Pace(lambda: round(steps_before[0] * step_ms * 1e6))
    chosen = []
    for step in range(1, steps + 1):
        steps_before[0] = step
        chosen.append(pace.next(1))
    return chosen


@pytest.mark.parametrize(("step_ms", "every"), [(100, 1), (13, 1), (7, 2), (5, 3), (1, 13)])
def test_short_steps_are_measured_so_rarely_that_the_cost_stays_below_its_bar(step_ms, every):
    chosen = chosen_of(1000, step_ms)
    measured = [step for step in chosen[20:] if step]
    assert set(measured) == {every}
    assert len(measured) == pytest.approx(980 / every, abs=2)
    assert COST_NS * len(measured) <= 1.02 * BAR * 980 * step_ms * 1e6 or every == 1


def test_measured_steps_do_not_keep_the_beat_of_the_workers():
    chosen = chosen_of(2000, 2.5)
    beats = [step % 4 for step, every in enumerate(chosen) if every]
    assert all(beats.count(beat) > len(beats) / 8 for beat in range(4))


def test_a_short_run_is_heard_to_the_end_and_a_long_one_in_part():
    pace = Pace(lambda: 0)
    heard = [pace.hears() for _ in range(HEARD_FIRST + 400)]
    assert all(heard[:HEARD_FIRST])
    assert sum(heard[HEARD_FIRST:]) == 400 / HEARD_ONE_IN
    places = [step % HEARD_ONE_IN for step, hears in enumerate(heard[HEARD_FIRST:]) if hears]
    assert all(places.count(place) > len(places) / 8 for place in range(HEARD_ONE_IN))
