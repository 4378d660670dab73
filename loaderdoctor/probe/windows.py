"""Windows: a while of detail, again and again, as --every and --for ask; in between, batches are counted and nothing else is done.

They begin with the first batch of the run, which its processes tell each other on the page of the run.  Where records fill the
room of a process all the same, one of two windows has detail, one of four, and so on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .control import WINDOWS_FROM
from .detail import PARTS, Detail

if TYPE_CHECKING:
    from .control import Control


class Windows(Detail):
    """The windows of one process.  `window` is one more than the number of the last one with detail."""

    __slots__ = ("_control", "_every_ns", "_for_ns", "_from_ns", "_until_ns", "window")

    def __init__(self, most_bytes: int, every_ns: int, for_ns: int, control: Control) -> None:
        super().__init__(most_bytes)
        self.bits = self.window = 0
        self._every_ns, self._for_ns, self._control = every_ns, for_ns, control
        self._from_ns = self._until_ns = 0

    def changes(self, now_ns: int, used_bytes: int) -> bool:
        """A step begins; whether `passing` is another one from here on."""
        if now_ns < self._until_ns and used_bytes <= self._until_bytes:
            return False
        was_passing = self.passing
        if used_bytes > self._until_bytes:
            self.level += 1
            self._until_bytes = used_bytes + max(0, self.most_bytes - used_bytes) // PARTS
        from_ns = self._from_ns or self._begun(now_ns)
        number, into_ns = divmod(now_ns - from_ns, self._every_ns)
        is_inside = into_ns < self._for_ns
        self._until_ns = from_ns + number * self._every_ns + (self._for_ns if is_inside else self._every_ns)
        self.passing = not is_inside or number % (1 << self.level) != 0
        if not self.passing:
            self.window = number + 1
        return self.passing != was_passing

    def costs(self, own_ns: int, now_ns: int) -> None:
        """The windows are as long and as many as they were asked for, whatever they cost."""

    def forked(self) -> None:
        """In a child: its room is its own, and its windows are those of the run."""
        self._until_bytes = self.most_bytes // PARTS

    def _begun(self, now_ns: int) -> int:
        """When the first window of the run began; the first batch of the first process says so."""
        if self._control.word(WINDOWS_FROM) == 0:
            self._control.set_word(WINDOWS_FROM, now_ns)
        self._from_ns = self._control.word(WINDOWS_FROM) or now_ns
        return self._from_ns
