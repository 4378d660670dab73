"""The speed-up that runs measured, with its interval: how much runs differ is known beforehand, and learned from them.

Two or three runs say little about how much runs differ.  So their spread is mixed with what is known of it: as if KNOWN runs more
had differed by SPREAD.  A machine that is noisier than that says so, and its interval is wider.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, sqrt
from typing import TYPE_CHECKING

from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from collections.abc import Sequence

# log: two runs of one script with equal settings differ by 1.3 % in the median and by 5.4 % in one of ten (predict.speedup), so
# that one run lies about this far from the mean of many.
SPREAD = 0.023
KNOWN = 4  # runs; so two pairs, which say twice how much runs differ, count for a third
Z_95 = 1.96
# log: half of the interval.  Closer than two runs of one script are to each other in one of ten nobody needs to know it ...
NARROW = 0.06
OF_GAIN = 0.1  # ... and of a large gain, a tenth of it is close enough to decide by.


@dataclass(frozen=True)
class Pace:
    """One run: its time after warm-up, and the batches of training in it."""

    seconds: float
    steps: int

    @property
    def step_s(self) -> float:
        """What a step took, epoch gaps and evaluations included: the time that a starved share is of."""
        return self.seconds / self.steps


def speedup_of(before: Sequence[Pace], after: Sequence[Pace]) -> Measured:
    """How many times as fast the runs `after` are; at least one run of each kind."""
    old, new = ([log(pace.step_s) for pace in paces] for paces in (before, after))
    best = _mean(old) - _mean(new)
    half = _half(old, new)
    runs = len(old) + len(new)
    return Measured(exp(best), exp(best - half), exp(best + half), runs, "times")


def is_narrow(speedup: Measured) -> bool:
    """Whether more runs would tell nothing that matters."""
    half = log(speedup.high / speedup.low) / 2
    return half <= max(NARROW, OF_GAIN * abs(log(speedup.value)))


def _half(old: Sequence[float], new: Sequence[float]) -> float:
    """Half of the 95 % interval of the difference of means, of runs whose spread is the same for both kinds."""
    freedom = KNOWN + len(old) + len(new) - 2
    squares = sum((one - _mean(runs)) ** 2 for runs in (old, new) for one in runs)
    spread = sqrt((KNOWN * SPREAD**2 + squares) / freedom)
    return _student(freedom) * spread * sqrt(1 / len(old) + 1 / len(new))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _student(freedom: int) -> float:
    """What 95 % of Student's t lies within, by the expansion of Cornish and Fisher; within 0.3 % from KNOWN on."""
    z = Z_95
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )
