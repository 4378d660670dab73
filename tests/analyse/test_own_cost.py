"""What recording cost: the sums of the steps that were weighed, over the time in which they were."""

from __future__ import annotations

from dataclasses import replace

import builders
import numpy as np
import pytest

from loaderdoctor.analyse import signals_of
from loaderdoctor.analyse.own_cost import FEWEST_WEIGHED
from loaderdoctor.values import Measured, Missing

STEP_MS, EVERY = 30, 17


def told(own_us):
    """The share of a run with steps of 30 ms, of which one in 17 was weighed."""
    run = builders.run_from("[" + "wwc" * 100)
    main = run.processes[0]
    stood_for_us = [us * EVERY for us in own_us]
    row = {
        "of_ns": len(own_us) * EVERY * STEP_MS * 10**6,
        "own_ns": sum(stood_for_us) * 1000,
        "own_us2": sum(us**2 for us in stood_for_us),
        "weighed": len(own_us),
    }
    columns = {name: np.array([value], dtype=np.int64) for name, value in row.items()}
    main = replace(main, tables={**main.tables, "own": columns})
    return signals_of(replace(run, processes=(main, *run.processes[1:]))).overhead_share


@pytest.mark.parametrize(
    ("own_us", "share", "spread"),
    [
        ([30] * 10, 0.001, 0.0),
        ([60] * 10, 0.002, 0.0),
        ([20, 40] * 5, 0.001, 0.0002),  # 10 us on either side, ten of them: 1.96 * 10 / sqrt(10) us of 30 ms
    ],
)
def test_the_share_is_what_a_step_cost_by_the_probes_own_clock(own_us, share, spread):
    value = told(own_us)
    assert isinstance(value, Measured)
    assert value.value == pytest.approx(share)
    assert value.high - value.value == pytest.approx(spread, abs=1e-5)
    assert value.value - value.low == pytest.approx(spread, abs=1e-5)


def test_a_few_steps_tell_no_share():
    assert isinstance(told([30] * (FEWEST_WEIGHED - 1)), Missing)
    assert isinstance(signals_of(builders.run_from("[" + "wwc" * 100)).overhead_share, Missing)
