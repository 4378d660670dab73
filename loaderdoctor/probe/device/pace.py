"""How many of the steps are measured: all of them, or so few that the cost stays below its bar."""

from __future__ import annotations

COST_NS = 50_000  # events, queries and hooks of one measured step, in Python, on one device
BAR = 0.004  # of the step; the noise of two runs of the same script is ten times that
_SMOOTH = 8  # steps over which the step time is averaged
_LONGEST = 200  # steps without a measurement, at most


class Pace:
    """Chooses one step in each block, at a place drawn anew each time: a fixed one would fall in with the beat of the workers.

    The draw is our own: the script's generators are not ours to advance.
    """

    def __init__(self) -> None:
        self._mean_ns = 0.0
        self._last_ns = 0
        self._every = 1
        self._left = 0
        self._chosen = 0
        self._draw = 1

    def next(self, now_ns: int, devices: int) -> int:
        """A step begins: 0 if it is not to be measured, else the number of steps that it stands for."""
        if self._last_ns:
            step_ns = now_ns - self._last_ns
            self._mean_ns += (step_ns - self._mean_ns) / (_SMOOTH if self._mean_ns else 1)
        self._last_ns = now_ns
        if not self._left:
            self._begin_block(devices)
        self._left -= 1
        return self._every if self._left == self._chosen else 0

    def _begin_block(self, devices: int) -> None:
        if self._mean_ns:
            self._every = min(_LONGEST, 1 + int(COST_NS * max(1, devices) / (BAR * self._mean_ns)))
        self._left = self._every
        self._draw = (1_103_515_245 * self._draw + 12_345) % (1 << 31)
        self._chosen = (self._draw >> 16) % self._every
