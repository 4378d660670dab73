"""One device as one thread of the script uses it: points in its compute stream, and what lies between two neighbours.

    host     request ── next() ── got ── copy ── launches ──────── request
    stream      │      WAIT        │C│COPY │       COMPUTE            │

A point that the host puts into a stream at time h is passed at max(h + latency, end of the work before it).  So WAIT is
exactly the part of next() in which the stream has nothing to do, however far the host runs ahead.  Points are asked later,
when they are long passed; nothing here waits.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

from ..layout import KIND_OF, METHOD_EVENTS, METHOD_GAP, METHOD_WITNESS, UNKNOWN
from .copies import Copies

if TYPE_CHECKING:
    from collections.abc import Callable

    from .backend import Backend
    from .copies import Copy

WAIT, COPY, HELD, COMPUTE = range(4)  # HELD: the compute stream waits for a copy in another one
NOISE_NS = 3_000  # two points recorded in a row differ by this much
SILENT_NS = 20_000  # a wait below is launch noise as likely as hunger
RUN_GAP_NS = 10_000  # copies closer than this are one run: not even the launch of a whole graph fits between
ROUGHLY_NS = 50_000  # a wait felt but for this much began with an empty queue
MOST_PENDING = 1_000  # steps; the host is never that far ahead of a device that works
MOST_RESOLVED = 8  # steps written at once, so that no request pays for many
_DEVICE_STEP = KIND_OF["device_step"]


class Writer(Protocol):
    """The part of the probe's writer that the device clock uses."""

    def put(self, kind: int, *fields: int) -> None:
        """Append one record."""

    def note(self, slug: str, sentence: str) -> None:
        """Say something that the reader of the report should know."""


class Step:
    """One next() and what follows up to the next one."""

    __slots__ = (
        *(
            "asked_ns",
            "aside",
            "copies",
            "end",
            "end_is_shared",
            "every",
            "got_mark",
            "iterator",
            "kinds",
            "last_copy_ns",
        ),
        *("marks", "ordinal", "stream", "sync_ns", "syncs", "wait_ns", "was_busy"),
    )

    def __init__(self, iterator: int, every: int, stream: Any) -> None:
        self.iterator = iterator
        self.ordinal = UNKNOWN
        self.every = every  # 0: not measured
        self.stream = stream
        self.asked_ns = 0
        self.wait_ns = UNKNOWN  # on the host's clock
        self.was_busy = False  # the stream was still at work when next() returned
        self.marks: list[Any] = []
        self.kinds: list[int] = []  # what begins at each mark
        self.got_mark = 0  # index in `marks`
        self.end: Any = None
        self.end_is_shared = False  # it is also the first mark of the following step
        self.aside: list[tuple[Any, Any]] = []  # around copies in other streams
        self.last_copy_ns = UNKNOWN  # host time of the last copy's end, where nothing was marked since
        self.copies: Copies | None = None
        self.sync_ns = self.syncs = 0

    @property
    def resting(self) -> int:
        """What goes on where nothing special does."""
        return WAIT if self.wait_ns == UNKNOWN else COMPUTE


class Lane:
    """Measures with points that carry a time stamp."""

    def __init__(
        self, backend: Backend, index: int, writer: Writer, now_ns: Callable[[], int], method: int = METHOD_EVENTS
    ) -> None:
        self.index = index
        self.method = method
        self.step: Step | None = None
        self._backend = backend
        self._writer = writer
        self._now_ns = now_ns
        self._pending: deque[Step] = deque()
        self._free: list[Any] = []
        self._copy_stream: Any = None
        self._copies_aside = False  # as of the last measured step that had copies
        self._aside_start: Any = None
        self._side_is_open = False  # copies went to another stream, and this one has not waited for them yet

    # -- what the script does, in order

    def request(self, iterator: int, every: int) -> None:
        """Just before next(): the last step ends and a new one begins."""
        self.resolve(MOST_RESOLVED)
        stream = self._backend.stream(self.index)
        last = self._close()
        if len(self._pending) > MOST_PENDING:
            every = 0
        step = self.step = Step(iterator, every, stream)
        if not every:
            pass
        elif last is not None and last.end is not None and last.stream == stream:
            last.end_is_shared = True
            step.marks.append(last.end)
            step.kinds.append(WAIT)
        else:
            self._mark(step, WAIT)
        step.asked_ns = self._now_ns()

    def got(self, ordinal: int) -> None:
        """Just after next()."""
        step = self.step
        if step is None:
            return
        step.ordinal = ordinal
        step.wait_ns = self._now_ns() - step.asked_ns
        if step.every:
            step.got_mark = len(step.marks)
            self._mark(step, COMPUTE)
        if step.every:
            step.was_busy = not self._backend.done(step.marks[0])

    def copying(self) -> None:
        """A copy to this device is about to be enqueued in the thread's current stream."""
        step = self.step
        if step is None or not step.every:
            return
        self._copy_stream = stream = self._backend.stream(self.index)
        if stream != step.stream:
            self._copies_aside = True
            self._aside_start = self._record(stream)
            return
        self._copies_aside = False
        if step.last_copy_ns == UNKNOWN or self._now_ns() - step.last_copy_ns > RUN_GAP_NS:
            self._mark(step, COPY)

    def copied(self, copy: Copy | None) -> None:
        """It has been enqueued; None: it was no copy after all, or it failed.  `copying` was called before."""
        step = self.step
        if step is None:
            return
        if copy is not None:
            if step.copies is None:
                step.copies = Copies()
            step.copies.add(copy, side=self._copies_aside)
        if not step.every:
            return
        if self._copies_aside:
            self._end_aside(step, self._copy_stream)
            return
        if step.kinds[-1] == COPY:
            self._mark(step, step.resting)
        else:
            self._backend.record(step.marks[-1], self._copy_stream)  # the run goes on: its end moves
        step.last_copy_ns = self._now_ns()

    def hold(self, stream: Any) -> bool:
        """A stream is about to wait for another; True where `released` is to be called afterwards."""
        step = self.step
        if step is None or not step.every or stream != step.stream:
            return False
        # The copies may have been in a step that was not measured.
        if not self._side_is_open and not (self._copies_aside and step.every > 1):
            return False
        self._mark(step, HELD)
        return True

    def released(self) -> None:
        """The wait has been enqueued."""
        self._side_is_open = False
        if self.step is not None and self.step.every:
            self._mark(self.step, self.step.resting)

    def synced(self, host_ns: int) -> None:
        """The host asked for a value, and got it after so long."""
        if self.step is not None:
            self.step.sync_ns += host_ns
            self.step.syncs += 1

    def stepped(self) -> None:
        """An optimizer's step has been enqueued: points with time stamps need no help of it."""

    # -- what the device has done

    def resolve(self, most: int) -> None:
        """Write the steps that the device has passed, oldest first."""
        pending = self._pending
        while pending and most and self._is_passed(pending[0]):
            self._write(pending.popleft())
            most -= 1

    def finish(self) -> None:
        """Write what can be said of the steps that the device has not passed, or that nothing followed."""
        self.resolve(len(self._pending))
        step, self.step = self.step, None
        for left in [*self._pending, *([step] if step is not None else [])]:
            if left.every and left.wait_ns != UNKNOWN:
                self._write_unfinished(left)
        self._pending.clear()

    def _close(self) -> Step | None:
        """End the open step; its last mark is where the next one may begin."""
        step, self.step = self.step, None
        if step is None or step.wait_ns == UNKNOWN:
            return None
        if not step.every:
            self._write_copies(step, UNKNOWN)
            return None
        step.end = self._record(step.stream)
        if step.end is None:
            return None
        self._pending.append(step)
        return step

    def _is_passed(self, step: Step) -> bool:
        done = self._backend.done
        return done(step.end) and (not step.aside or all(done(end) for _, end in step.aside))

    def _write(self, step: Step) -> None:
        last = step.kinds[-1]
        marks = step.marks if last == COMPUTE else [*step.marks, step.end]
        self._write_step(step, self._lengths(marks), self._backend.elapsed_ns(step.marks[0], step.end))
        self._free += step.marks
        self._free += [mark for pair in step.aside for mark in pair]
        if not step.end_is_shared:
            self._free.append(step.end)

    def _write_unfinished(self, step: Step) -> None:
        if not self._backend.done(step.marks[0]):
            # the stream has not come to the request even now: it had work all through next()
            self._write_copies(step, UNKNOWN)
            self._put(step, METHOD_WITNESS, 0, 0, 0, UNKNOWN, UNKNOWN, drained=False)
        elif self._backend.done(step.marks[-1]) and all(self._backend.done(end) for _, end in step.aside):
            self._write_step(step, self._lengths(step.marks), UNKNOWN)

    def _lengths(self, marks: list[Any]) -> list[int]:
        """Device time from mark to mark: only neighbours are compared, so that float32 milliseconds do."""
        elapsed_ns = self._backend.elapsed_ns
        return [elapsed_ns(start, end) for start, end in pairwise(marks)]

    def _write_step(self, step: Step, lengths: list[int], step_ns: int) -> None:
        total = [0, 0, 0, 0]
        for kind, length in zip(step.kinds, lengths, strict=False):
            total[kind] += length
        aside_ns = sum(self._backend.elapsed_ns(start, end) for start, end in step.aside)
        self._write_copies(step, total[COPY] + aside_ns)
        inside_ns = sum(lengths[: step.got_mark])
        drained = not step.was_busy and inside_ns >= step.wait_ns - ROUGHLY_NS
        copy_ns = total[COPY] + total[HELD]
        self._put(step, self.method, *self._interval(total[WAIT]), copy_ns, step_ns, drained=drained)

    def _write_copies(self, step: Step, device_ns: int) -> None:
        if step.copies is not None:
            step.copies.write(self._writer, step.iterator, step.ordinal, self.index, device_ns)

    def _interval(self, wait_ns: int) -> tuple[int, int, int]:
        """Lower bound, best value and upper bound.  A gap between steps may be anything but too short."""
        if self.method == METHOD_GAP:
            return 0, wait_ns, wait_ns
        low_ns = 0 if wait_ns < SILENT_NS else wait_ns - NOISE_NS
        return low_ns, wait_ns, wait_ns + NOISE_NS

    def _put(self, step: Step, method: int, *times: int, drained: bool) -> None:
        """`times` are the wait's bounds and best value, copies, and the step; ns."""
        self._writer.put(
            *(_DEVICE_STEP, step.iterator, step.ordinal, self.index, method, *times),
            *(int(drained), step.every, step.sync_ns, step.syncs),
        )

    # -- points

    def _mark(self, step: Step, kind: int) -> None:
        event = self._record(step.stream)
        if event is None:
            step.every = 0  # a graph is being captured: this step cannot be measured
            return
        step.marks.append(event)
        step.kinds.append(kind)
        step.last_copy_ns = UNKNOWN

    def _record(self, stream: Any) -> Any:
        event = self._free.pop() if self._free else self._backend.event()
        if self._backend.record(event, stream):
            return event
        self._free.append(event)
        return None

    def _end_aside(self, step: Step, stream: Any) -> None:
        start, self._aside_start = self._aside_start, None
        end = self._record(stream)
        if start is not None and end is not None:
            step.aside.append((start, end))
        self._side_is_open = True
