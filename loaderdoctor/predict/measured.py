"""What a change of settings was measured to gain, beside what a replay promised of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loaderdoctor.values import Interval

CAME_TRUE, BELOW, ABOVE, NO_PROMISE = "came-true", "below-promise", "above-promise", "no-promise"


@dataclass(frozen=True)
class Outcome:
    """Settings of a loader, and variables of the environment, in runs with them and without.

    `speedup` is the old time after warm-up over the new.  `runs` counts all runs, `steps` those of training in one of them on
    the mean.  `repeats`: with the settings each worker made all batches, so the training was another one.  `is_ceiling`: one
    batch was kept in the place of the loader, which is another training too.
    """

    loader: str
    settings: Mapping[str, Any]
    variables: Mapping[str, str]
    speedup: Interval
    runs: int
    steps: int
    cause: str | None = None  # whose prescription it is
    promised: Interval | None = None
    starved_before: float | None = None
    starved_after: float | None = None
    repeats: bool = False
    is_ceiling: bool = False

    @property
    def verdict(self) -> str:
        """came-true|below-promise|above-promise|no-promise: whether what was measured can be what was promised."""
        if self.promised is None:
            return NO_PROMISE
        if self.speedup.high < self.promised.low:
            return BELOW
        return ABOVE if self.speedup.low > self.promised.high else CAME_TRUE
