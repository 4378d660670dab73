"""What recording cost: the median of the steps whose cost was taken, times all steps, over the time that they took."""

from __future__ import annotations

from dataclasses import replace

import builders
import numpy as np
import pytest

from loaderdoctor.analyse import signals_of
from loaderdoctor.analyse.own_cost import FEWEST_WEIGHED
from loaderdoctor.values import Measured, Missing

US = 1000


def run_with(own_us):
    """Steps of 30 ms, in some of which the hooks took so long."""
    run = builders.run_from("[" + "wwc" * 100)
    main = run.processes[0]
    own = np.array(own_us, dtype=np.int64) * US
    columns = {"at_ns": main.tables["next"]["end_ns"][: len(own)], "own_ns": own, "steps": np.full(len(own), 17)}
    return replace(run, processes=(replace(main, tables={**main.tables, "own": columns}), *run.processes[1:]))


@pytest.mark.parametrize(
    ("own_us", "share"),
    [
        ([30] * 10, 0.001),
        ([60] * 10, 0.002),
        ([30] * 8 + [5000] * 2, 0.001),  # two hooks that the kernel put aside
    ],
)
def test_the_share_is_what_a_step_cost_by_the_probes_own_clock(own_us, share):
    told = signals_of(run_with(own_us)).overhead_share
    assert isinstance(told, Measured)
    assert told.value == pytest.approx(share, rel=0.1)
    assert told.low <= told.value <= told.high


@pytest.mark.parametrize("own_us", [[], [30] * (FEWEST_WEIGHED - 1)])
def test_a_few_steps_tell_no_share(own_us):
    assert isinstance(signals_of(run_with(own_us)).overhead_share, Missing)
