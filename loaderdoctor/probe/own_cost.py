"""What recording costs the process that trains, weighed on one step in many by the probe's own clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .layout import KIND_OF

if TYPE_CHECKING:
    from .writer import Writer

MOST_NS = 500_000  # of a step: more is a hook that the kernel put aside, for others who ran meanwhile
_OWN = KIND_OF["own"]


class OwnCost:
    """The sums of one process."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._since_ns = self._own_ns = self._own_us2 = self._weighed = 0

    def weighed(self, own_ns: int, steps: int, now_ns: int) -> None:
        """The hooks of one step took `own_ns`; it stands for so many."""
        if not self._since_ns:
            self._since_ns = now_ns
            return
        own_ns = min(own_ns, MOST_NS) * steps
        self._own_ns += own_ns
        self._own_us2 += (own_ns // 1000) ** 2
        self._weighed += 1
        self._writer.put_over(_OWN, now_ns - self._since_ns, self._own_ns, self._own_us2, self._weighed)
        self._writer.detail.costs(own_ns, now_ns)
