"""The clock of a process that trains on a device: how much of each next() the device really waits.

Work goes to a device from the thread that trains.  Where that thread also calls next(), the wait is what lies between two
points around the call.  Where batches are fetched in a thread of the script's own, next() says nothing about the device;
what is left is the gap from the optimizer's step to the first copy of the next batch, an upper bound.
"""

from __future__ import annotations

import os
import sys
from threading import get_ident, main_thread
from time import perf_counter_ns
from typing import TYPE_CHECKING

from ..clock import HostClock
from ..faults import pass_on
from ..layout import KIND_OF, METHOD_EVENTS, METHOD_GAP, UNKNOWN
from .backend import NoTimingError
from .hearing import hearing
from .lane import Lane
from .pace import Pace
from .witness import WitnessLane

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Concatenate, ParamSpec, TypeVar

    from .backend import Backend
    from .copies import Copy
    from .lane import Writer

    P = ParamSpec("P")
    R = TypeVar("R")

HOST_MEMORY_EVERY_NS = 1_000_000_000
_HOST_MEMORY = KIND_OF["host_memory"]


def _quiet(method: Callable[Concatenate[DeviceClock, P], R]) -> Callable[Concatenate[DeviceClock, P], R | None]:
    """A fault of ours ends the device clock, never the script."""

    def guarded(self: DeviceClock, /, *args: P.args, **kwargs: P.kwargs) -> R | None:
        try:
            return method(self, *args, **kwargs)
        except Exception as error:
            pass_on(error)
            self.give_up(error)
            return None

    guarded.__doc__ = method.__doc__
    return guarded


def _no_hooks(_kind: str) -> None:
    """Nothing is heard."""


class Consumer:
    """One thread of the script that takes batches, or that trains on batches taken by another."""

    def __init__(self, now_ns: Callable[[], int], *, trains_only: bool) -> None:
        self.trains_only = trains_only
        self.is_background = False  # takes batches for another thread: its points say nothing
        # Another thread may capture a graph, which a call into the driver from this one would end with an error.  Only the
        # main thread, and one that has been seen to train, is taken for the one that captures if any does.
        self.may_ask = trains_only or get_ident() == main_thread().ident
        self.open: list[int] = []  # iterators whose next() it is inside of: a dataset that reads from a loader
        self.lanes: dict[int, Lane | WitnessLane] = {}
        self.pace = Pace(now_ns)
        self.is_measuring = False  # the open step
        self.iterator = UNKNOWN  # of the last measured step
        self.always_hears = trains_only  # copies end the wait, or are a part of next()
        self.has_got = True  # trains_only: the step's first copy was seen


class DeviceClock(HostClock):
    """Writes `device_step`, `copy` and `host_memory` records.  Threads share nothing but a dict."""

    def __init__(
        self,
        writer: Writer,
        find_backend: Callable[[], Backend | None],
        now_ns: Callable[[], int] = perf_counter_ns,
        hook: Callable[[str], None] = _no_hooks,
    ) -> None:
        self.armed = False  # copies and waits are worth a look
        self.now_ns = now_ns
        self.backend: Backend | None = None
        self.kind = ""  # of the backend
        self._writer = writer
        self._find_backend = find_backend
        self._hook = hook  # makes the script's calls heard; once its device is in use
        self._is_searched = False
        self._is_active = False  # the script uses the device; once it does, it goes on
        self._consumers: dict[int, Consumer] = {}
        self._latest = (UNKNOWN, UNKNOWN)  # iterator and ordinal of the last batch of any thread
        self._host_memory_ns = 0
        self._has_background = False
        os.register_at_fork(after_in_child=self._forget)

    # -- told by the iteration hooks

    def requested(self, iterator: int, *, outermost: bool = False) -> None:
        """Put a point before next(); `outermost` where it is known to be inside no other, whatever was left open."""
        try:  # as `_quiet`, whose call is half of what this costs in a step that is not measured
            consumer = self._consumers.get(get_ident()) or self._new_consumer()
            if outermost:
                consumer.open.clear()
            consumer.open.append(iterator)
            if len(consumer.open) > 1:
                return
            if consumer.is_background or not consumer.may_ask:
                hearing.clock = None
            elif self._is_usable():
                self._begin(consumer, iterator)
            else:
                hearing.clock = self if self.armed else None  # a copy may be the first that is seen of the device
        except Exception as error:
            pass_on(error)
            self.give_up(error)

    def got(self, iterator: int, ordinal: int, _status: int) -> None:
        """Put a point after it.  The end of an epoch is a next() like others."""
        try:
            consumer = self._consumers.get(get_ident()) or self._new_consumer()
            if iterator in consumer.open:
                del consumer.open[consumer.open.index(iterator) :]
            if consumer.open:
                return
            self._latest = (iterator, ordinal)
            if consumer.is_measuring:
                for lane in consumer.lanes.values():
                    lane.got(ordinal)
                self._write_host_memory()
        except Exception as error:
            pass_on(error)
            self.give_up(error)

    @_quiet
    def stepped(self) -> None:
        """An optimizer has stepped, so this thread trains."""
        me = get_ident()
        consumer = self._consumers.get(me)
        if len(self._consumers) > (consumer is not None):
            self._set_others_aside(me)
        if consumer is None and self._consumers:
            consumer = self._consumers[me] = Consumer(self.now_ns, trains_only=True)
        if consumer is None:
            return
        consumer.may_ask = True
        if not self._is_usable():
            hearing.clock = self if self.armed else None
        elif consumer.trains_only:
            self._begin(consumer, self._latest[0])
            consumer.has_got = False
        else:
            for lane in consumer.lanes.values():
                lane.stepped()

    @_quiet
    def rests(self) -> None:
        """End the open step of this thread, and listen to nothing until the next one."""
        hearing.clock = None
        consumer = self._consumers.get(get_ident())
        if consumer is None:
            return
        consumer.open.clear()
        consumer.pace.rests()
        if consumer.is_measuring:
            consumer.is_measuring = False
            for lane in consumer.lanes.values():
                lane.request(consumer.iterator, 0, hears=False)

    @_quiet
    def finished(self) -> None:
        """Write what is known of the steps that are left: of this thread, and of those that are gone."""
        consumers, self._consumers = self._consumers, {}
        self.armed, hearing.clock = False, None
        running = sys._current_frames().keys() - {get_ident()}
        for thread, consumer in consumers.items():
            if thread not in running:
                for lane in consumer.lanes.values():
                    lane.finish()

    # -- told by the hooks on tensors and streams

    @_quiet
    def copying(self, index: int | None) -> Lane | WitnessLane | None:
        """A copy to a device begins (None: the current one); what it returns, if anything, wants `copied` afterwards."""
        consumer, backend = self._consumers.get(get_ident()), self.backend
        if consumer is None or backend is None:
            return None
        if not consumer.lanes:
            backend.seen()
            return None
        device = backend.index() if index is None else index
        lane = consumer.lanes.get(device)
        if lane is None:
            consumer.lanes[device] = self._lane(device, consumer)  # another device: measured from the next step on
            return None
        if consumer.trains_only and not consumer.has_got:
            consumer.has_got = True
            if backend.capturing():
                return None
            lane.got(self._latest[1])
        lane.copying()
        consumer.always_hears |= lane.copies_inside
        return lane

    @_quiet
    def copied(self, lane: Lane | WitnessLane, copy: Copy | None) -> None:
        """It is enqueued, or was none."""
        lane.copied(copy)

    @_quiet
    def hold(self, stream: Any) -> Lane | WitnessLane | None:
        """A stream is about to wait for another; what it returns, if anything, wants `released` afterwards."""
        consumer = self._consumers.get(get_ident())
        if consumer is None:
            return None
        return next((lane for lane in consumer.lanes.values() if lane.hold(stream)), None)

    @_quiet
    def released(self, lane: Lane | WitnessLane) -> None:
        """That wait is enqueued."""
        lane.released()

    @_quiet
    def synced(self, host_ns: int) -> None:
        """The host has waited for the device."""
        consumer = self._consumers.get(get_ident())
        if consumer is not None:
            for lane in consumer.lanes.values():
                lane.synced(host_ns)

    # -- inside

    def give_up(self, error: Exception) -> None:
        """Go on with the weaker kind of point where the device lacks time stamps, else without any."""
        backend, self._consumers, hearing.clock = self.backend, {}, None
        if backend is not None and backend.timed and isinstance(error, NoTimingError):
            backend.timed = False
            self._writer.note(
                "device-clock-no-timing", f"Events of this {backend.kind} device tell no times: {str(error)[:200]}."
            )
            return
        self.armed, self.backend, self._is_active = False, None, False
        self._writer.note("device-clock-failed", f"Waits are on the host's clock from here on: {repr(error)[:200]}.")

    def _forget(self) -> None:
        """In a forked child: streams and points are the parent's."""
        self.armed, self.backend, self._is_searched, self._is_active = False, None, False, False
        self._consumers, hearing.clock = {}, None

    def _new_consumer(self) -> Consumer:
        consumer = self._consumers[get_ident()] = Consumer(self.now_ns, trains_only=False)
        return consumer

    def _is_usable(self) -> bool:
        if not self._is_searched:
            self._is_searched = True
            self.backend = self._find_backend()
            self.armed = self.backend is not None
            self.kind = self.backend.kind if self.backend is not None else ""
            if self.backend is not None and not self.backend.tells_activity:
                self._hook(self.kind)
        if not self._is_active and self.backend is not None:
            self._is_active = self.backend.active()
            if self._is_active:
                self._hook(self.kind)
        return self._is_active

    def _begin(self, consumer: Consumer, iterator: int) -> None:
        """A step of this thread begins on every device that it uses."""
        every = consumer.pace.next(len(consumer.lanes))
        was_measuring, consumer.is_measuring = consumer.is_measuring, every > 0
        if not every and not was_measuring:
            return
        if not consumer.lanes and self.backend is not None:
            index = self.backend.index()
            consumer.lanes[index] = self._lane(index, consumer)
        is_first = iterator != consumer.iterator  # heard, so that the copies of no loader go unheard
        hears = every > 0 and (is_first or consumer.always_hears or consumer.pace.hears())
        consumer.iterator = iterator
        hearing.clock = self if hears else None
        for lane in consumer.lanes.values():
            lane.request(iterator, every, hears=hears)

    def _lane(self, index: int, consumer: Consumer) -> Lane | WitnessLane:
        backend = self.backend
        if backend is None:
            raise RuntimeError
        if not backend.timed:
            return WitnessLane(backend, index, self._writer, self.now_ns)
        method = METHOD_GAP if consumer.trains_only else METHOD_EVENTS
        return Lane(backend, index, self._writer, self.now_ns, method)

    def _set_others_aside(self, me: int) -> None:
        for thread, other in [*self._consumers.items()]:  # other threads may add theirs meanwhile
            if thread != me and not other.trains_only and not other.is_background:
                self._set_aside(other)

    def _set_aside(self, consumer: Consumer) -> None:
        consumer.is_background = True
        consumer.lanes = {}
        if not self._has_background:
            self._has_background = True
            self._writer.note(
                "device-clock-background",
                "Batches are taken in a thread that does not train, so waits are gaps between a step and the next copy: "
                "an upper bound.",
            )

    def _write_host_memory(self) -> None:
        now_ns = self.now_ns()
        if self.backend is None or now_ns - self._host_memory_ns < HOST_MEMORY_EVERY_NS:
            return
        self._host_memory_ns = now_ns
        counted = self.backend.host_memory()
        if counted is not None:
            self._writer.put(_HOST_MEMORY, now_ns, *counted)
