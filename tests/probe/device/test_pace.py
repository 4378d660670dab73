"""Steps that are too short to be measured one and all."""

from __future__ import annotations

import pytest

from loaderdoctor.probe.device.pace import BAR, COST_NS, Pace


@pytest.mark.parametrize(("step_ms", "every"), [(100, 1), (13, 1), (7, 2), (5, 3), (1, 13)])
def test_short_steps_are_measured_so_rarely_that_the_cost_stays_below_its_bar(step_ms, every):
    pace = Pace()
    chosen = [pace.next(round(step * step_ms * 1e6), 1) for step in range(1, 1001)]
    measured = [step for step in chosen[20:] if step]
    assert set(measured) == {every}
    assert len(measured) == pytest.approx(980 / every, abs=2)
    assert COST_NS * len(measured) <= 1.02 * BAR * 980 * step_ms * 1e6 or every == 1


def test_measured_steps_do_not_keep_the_beat_of_the_workers():
    pace = Pace()
    chosen = [pace.next(round(step * 2.5e6), 1) for step in range(1, 2001)]
    beats = [step % 4 for step, every in enumerate(chosen) if every]
    assert all(beats.count(beat) > len(beats) / 8 for beat in range(4))
