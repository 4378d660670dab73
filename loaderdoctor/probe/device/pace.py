"""How many of the steps are measured, so that the cost stays below its bar, and how many of those are heard to the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

COST_NS = 50_000  # events, queries and hooks of one measured step, in Python, on one device
BAR = 0.004  # of the step; the noise of two runs of the same script is ten times that
_SMOOTH = 8  # steps, roughly, over which the step time is averaged
_LONGEST = 200  # steps without a measurement, at most
HEARD_FIRST = 32  # measured steps: a short run is heard to the end
HEARD_ONE_IN = 4  # measured steps, from then on: hearing doubles a step's cost, and copies differ less than waits do


class Draw:
    """One of each block of calls, at a place drawn anew each time: a fixed one would fall in with the beat of the workers.

    The draw is our own: the script's generators are not ours to advance.
    """

    def __init__(self) -> None:
        self.left = 0  # calls, in the block
        self.length = 1
        self._chosen = 0
        self._drawn = 1

    def begin(self, length: int) -> None:
        """A block of so many calls begins."""
        self.left = self.length = length
        self._drawn = (1_103_515_245 * self._drawn + 12_345) % (1 << 31)
        self._chosen = (self._drawn >> 16) % length

    def is_chosen(self) -> bool:
        """Whether this call is the one."""
        self.left -= 1
        return self.left == self._chosen


class Pace:
    """Chooses the steps that are measured, and those that are heard."""

    def __init__(self, now_ns: Callable[[], int]) -> None:
        self._now_ns = now_ns
        self._mean_ns = 0.0
        self._begun_ns = 0
        self._measured = Draw()
        self._heard = Draw()
        self._left_to_hear = HEARD_FIRST

    def next(self, devices: int) -> int:
        """A step begins: 0 if it is not to be measured, else the number of steps that it stands for."""
        draw = self._measured
        if not draw.left:
            draw.begin(self._length(draw.length, devices))
        return draw.length if draw.is_chosen() else 0

    def rests(self) -> None:
        """Steps go by that are not told of: they say nothing of how long one takes."""
        self._begun_ns = 0
        self._measured.left = 0

    def hears(self) -> bool:
        """Whether the copies and waits of the measured step that begins are worth their cost."""
        if self._left_to_hear:
            self._left_to_hear -= 1
            return True
        if not self._heard.left:
            self._heard.begin(HEARD_ONE_IN)
        return self._heard.is_chosen()

    def _length(self, passed: int, devices: int) -> int:
        """Of the block that begins, from what a step took in those before."""
        now_ns, begun_ns = self._now_ns(), self._begun_ns
        self._begun_ns = now_ns
        if not begun_ns:
            return 1
        weight = min(1.0, passed / _SMOOTH) if self._mean_ns else 1.0
        self._mean_ns += ((now_ns - begun_ns) / passed - self._mean_ns) * weight
        return min(_LONGEST, 1 + int(COST_NS * max(1, devices) / (BAR * max(1.0, self._mean_ns))))
