"""What recording itself cost the training process, by the probe's own clock."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from loaderdoctor.analyse.frames import table
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from loaderdoctor.record.run import ProcessRecords

NOT_WEIGHED = Missing("not-recorded", "The run holds too few steps whose own cost was taken.")
FEWEST_WEIGHED = 5  # steps: fewer differ too much to stand for all
_TWO_SIDED = 1.96  # standard errors on either side of a mean hold 95 %


def own_share(main: ProcessRecords) -> Value:
    """Share of the time since the first step that was weighed."""
    said = table(main, "own")
    if len(said) == 0 or int(said["weighed"].iloc[-1]) < FEWEST_WEIGHED or int(said["of_ns"].iloc[-1]) <= 0:
        return NOT_WEIGHED
    of_ns, own_ns, own_us2, weighed = (int(said[name].iloc[-1]) for name in ("of_ns", "own_ns", "own_us2", "weighed"))
    mean_us = own_ns / 1000 / weighed
    error_us = sqrt(max(0.0, own_us2 / weighed - mean_us**2) / weighed)
    low, best, high = (max(0.0, mean_us + side * _TWO_SIDED * error_us) * 1000 * weighed / of_ns for side in (-1, 0, 1))
    return Measured(best, low, high, weighed, "share")
