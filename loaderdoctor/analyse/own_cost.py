"""What recording itself costs the training process, by the probe's own clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from loaderdoctor.analyse.frames import NS, table
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from loaderdoctor.analyse.timeline import Timeline
    from loaderdoctor.record.run import ProcessRecords

NOT_WEIGHED = Missing("not-recorded", "The run holds too few steps whose own cost was taken.")
FEWEST_WEIGHED = 5  # steps: of fewer, one that the kernel put aside is the median
MIDDLE = (0.25, 0.5, 0.75)  # the halves on either side of the median


def own_share(main: ProcessRecords, timeline: Timeline) -> Value:
    """Share of the time in which batches were taken.

    The median step stands for all: a hook that the kernel puts aside waits for others, who run meanwhile.
    """
    own = table(main, "own")
    seconds = (int(timeline.calls["end_ns"].max()) - int(timeline.loops["begin_ns"].min())) / NS
    if len(own) < FEWEST_WEIGHED or seconds <= 0:
        return NOT_WEIGHED
    steps_per_s = len(timeline.calls) / seconds
    low, best, high = (float(own_ns) / NS * steps_per_s for own_ns in np.quantile(own["own_ns"], MIDDLE))
    return Measured(best, low, high, len(own), "share")
