"""A device that can be asked whether it has come to a point, but not when: waits are proven in full, disproven, or bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..layout import KIND_OF, METHOD_WITNESS, UNKNOWN
from .copies import Copies

if TYPE_CHECKING:
    from collections.abc import Callable

    from .backend import Backend
    from .copies import Copy
    from .lane import Writer

_DEVICE_STEP = KIND_OF["device_step"]


class WitnessLane:
    """Takes the place of `Lane`; see there.

    The stream was still at work when next() returned      D = 0
    it was done with the optimizer's step before next()    D = all of next()
    else                                                   0 < D <= all of next()
    """

    def __init__(self, backend: Backend, index: int, writer: Writer, now_ns: Callable[[], int]) -> None:
        self.index = index
        self.copies_inside = False  # they are no part of a wait that is proven as a whole
        self._backend = backend
        self._writer = writer
        self._now_ns = now_ns
        self._requested: Any = None  # points, made at the first use
        self._after_step: Any = None
        self._has_stepped = False  # since the last request
        self._open: tuple[int, int] | None = None  # iterator, host ns of the request
        self._ordinal = UNKNOWN
        self._wait: tuple[int, int, int] = (0, 0, 0)
        self._was_idle = False
        self._every = 0
        self._copies = Copies()
        self._sync_ns = self._syncs = 0

    def request(self, iterator: int, every: int, *, hears: bool) -> None:
        """Was the stream done, and where does it stand now."""
        self.finish()
        self._sync_ns = self._syncs = 0 if hears else UNKNOWN
        self._every = every = 0 if every and self._backend.capturing() else every
        if every:
            self._was_idle = self._has_stepped and self._backend.done(self._after_step)
            self._has_stepped = False
            if self._requested is None:
                self._requested = self._backend.event()
            self._backend.record(self._requested, self._backend.stream(self.index))
        self._open = (iterator, self._now_ns())

    def got(self, ordinal: int) -> None:
        """Has the stream come to where it stood."""
        if self._open is None:
            return
        self._ordinal = ordinal
        wait_ns = self._now_ns() - self._open[1]
        if not self._every:
            return
        if not self._backend.done(self._requested):
            self._wait = (0, 0, 0)
        elif self._was_idle:
            self._wait = (wait_ns, wait_ns, wait_ns)
        else:
            self._wait = (0, wait_ns // 2, wait_ns)

    def copying(self) -> None:
        """How long copies take on the device cannot be told."""

    def copied(self, copy: Copy | None) -> None:
        """Copies are counted."""
        if copy is not None:
            self._copies.add(copy, side=False)

    def hold(self, stream: Any) -> bool:  # noqa: ARG002 - the interface of Lane
        """Waits of one stream for another cannot be told."""
        return False

    def released(self) -> None:
        """Never called."""

    def synced(self, host_ns: int) -> None:
        """The host asked for a value, and got it after so long."""
        self._sync_ns += host_ns
        self._syncs += 1

    def stepped(self) -> None:
        """The last known work of a step has been enqueued."""
        if self._after_step is None:
            self._after_step = self._backend.event()
        self._has_stepped = not self._backend.capturing()
        if self._has_stepped:
            self._backend.record(self._after_step, self._backend.stream(self.index))

    def finish(self) -> None:
        """Write the open step."""
        if self._open is not None and self._ordinal != UNKNOWN:
            iterator, ordinal, index = self._open[0], self._ordinal, self.index
            if self._copies.count:
                self._writer.put(*self._copies.record(iterator, ordinal, index, UNKNOWN))
            if self._every:
                drained = int(self._wait[2] > 0 and self._was_idle)
                self._writer.put(
                    *(_DEVICE_STEP, iterator, ordinal, index, METHOD_WITNESS, *self._wait, UNKNOWN, UNKNOWN),
                    *(drained, self._every, self._sync_ns, self._syncs),
                )
        self._open, self._ordinal = None, UNKNOWN
        self._copies = Copies()
