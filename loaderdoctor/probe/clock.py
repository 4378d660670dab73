"""What a device's clock is told around each next(); on a host without a device, nothing is to be done."""

from __future__ import annotations


class HostClock:
    """The clock of a process whose steps run on the host: its `next` records already say all there is.

    `iterator` and `ordinal` are those of the `next` record that follows.
    """

    def requested(self, iterator: int, *, outermost: bool = False) -> None:
        """Called just before the real next() of a loader's iterator; `outermost`: it is inside of no other next()."""

    def got(self, iterator: int, ordinal: int, status: int) -> None:
        """Called just after it, with the status of layout.NEXT_*."""

    def stepped(self) -> None:
        """Called after an optimizer's step."""

    def rests(self) -> None:
        """Called where this thread's steps are not measured from here on, until the next `requested`."""

    def finished(self) -> None:
        """Called once when recording ends while the interpreter still works: write what is still held."""
