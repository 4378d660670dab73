"""Whether detail is recorded now: always at first, then in one of two stretches of time, of four, and so on.

So the records of a process stay below a bound however long it runs, and spread over all of it, and a training whose steps are
so short that it would feel the recording has less of it.  How long a stretch is, is for the process's pace to say: a small
part of the time until it first had reason for more than one, as a power of two of the clock's nanoseconds, so that processes
of one pace have their stretches at the same time without asking each other.
"""

from __future__ import annotations

PARTS = 8  # of the room that is left goes to each level: there is always some left for the next one
SLICES = 64  # of the time that the first part took: stretches of hundreds of steps, and dozens of them
WHOLE = 62  # bits of the clock: one stretch, before there is reason for more
LEAST_BITS = 20  # a millisecond
MOST_COST = 0.008  # share of the time: there is less detail before it is a hundredth
JUDGED_AFTER_NS = 10_000_000_000  # what a few seconds cost says little about the next ones
MOST_LEVEL = 3  # one stretch of 8: of fewer, what is left is the cost of counting


class Detail:
    """The stretches of one process.  `passing`: this one goes without detail."""

    __slots__ = (
        "_began_ns",
        "_cost_ns",
        "_judged_ns",
        "_number",
        "_until_bytes",
        "bits",
        "level",
        "most_bytes",
        "passing",
    )

    window = 0  # of the last stretch with detail, where these are windows

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.passing = False
        self.level = 0
        self.bits = WHOLE
        self._began_ns, self._number = 0, -1
        self._until_bytes = most_bytes // PARTS
        self._cost_ns = self._judged_ns = 0

    def changes(self, now_ns: int, used_bytes: int) -> bool:
        """A step begins; whether `passing` is another one from here on."""
        if now_ns >> self.bits == self._number and used_bytes <= self._until_bytes:
            return False
        was_passing = self.passing
        if not self._began_ns:
            self._began_ns = now_ns
        if used_bytes > self._until_bytes:
            self._rise(now_ns)
            self._until_bytes = used_bytes + max(0, self.most_bytes - used_bytes) // PARTS
        self._number = now_ns >> self.bits
        self.passing = self._number % (1 << self.level) != 0
        return self.passing != was_passing

    def costs(self, own_ns: int, now_ns: int) -> None:
        """Recording took this long since that was said last; where it is too much, there is less detail from here on."""
        if not self._judged_ns:
            self._judged_ns = now_ns
        self._cost_ns += own_ns
        past_ns = now_ns - self._judged_ns
        if past_ns < JUDGED_AFTER_NS:
            return
        if self._cost_ns > MOST_COST * past_ns and self.level < MOST_LEVEL:
            self._rise(now_ns)
        self._cost_ns, self._judged_ns = 0, now_ns

    def forked(self) -> None:
        """In a child: its room is its own, and its stretches are where the parent's are."""
        self._until_bytes = self.most_bytes // PARTS
        if self.bits == WHOLE:
            self._began_ns, self._number = 0, -1

    def _rise(self, now_ns: int) -> None:
        if self.bits == WHOLE:
            self.bits = max(LEAST_BITS, ((now_ns - self._began_ns) // SLICES).bit_length())
        self.level += 1
