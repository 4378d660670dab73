"""One device as one thread of the script uses it: points in its compute stream, and what lies between two neighbours.

    host     request ── next() ── got ── copy ── launches ──────── request
    stream      │      WAIT        │COPY      │    COMPUTE            │

A point that the host puts into a stream at time h is passed at max(h + latency, end of the work before it).  So WAIT is
exactly the part of next() in which the stream has nothing to do, however far the host runs ahead.  Around a copy that finds
the stream at rest, the host's own time would count as the copy's: what the host took without waiting is taken off.
Points are asked later, when they are long passed; nothing here waits.  Every line runs once a step or more often in the
thread that trains: what is short here is so for its cost.
"""

from __future__ import annotations

from collections import deque
from itertools import islice, pairwise, takewhile
from typing import TYPE_CHECKING, Any, Protocol

from ..layout import KIND_OF, METHOD_EVENTS, METHOD_GAP, METHOD_WITNESS, UNKNOWN
from .copies import Copies

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .backend import Backend
    from .copies import Copy

WAIT, COPY, HELD, COMPUTE = range(4)  # HELD: the compute stream waits for a copy in another one
NOISE_NS = 3_000  # two points recorded in a row differ by this much
SILENT_NS = 20_000  # a wait below is launch noise as likely as hunger
RUN_GAP_NS = 10_000  # copies closer than this are one run: not even the launch of a whole graph fits between
ROUGHLY_NS = 50_000  # a wait felt but for this much began with an empty queue
ASKED_NS = 2 * ROUGHLY_NS  # of longer waits the points tell by themselves whether it did
NEVER_NS = -(1 << 62)
MOST_PENDING = 1_000  # steps; the host is never that far ahead of a device that works
AT_ONCE = 8  # steps asked and written together: one question tells that all of them are passed
_DEVICE_STEP = KIND_OF["device_step"]


class Writer(Protocol):
    """The part of the probe's writer that the device clock uses."""

    def put(self, kind: int, *fields: int) -> None:
        """Append one record."""

    def put_all(self, records: Sequence[tuple[int, ...]]) -> None:
        """Append several, each its kind and its fields, at the cost of one."""

    def note(self, slug: str, sentence: str) -> None:
        """Say something that the reader of the report should know."""


class Mark:
    """A point in a stream, used again and again, and what begins there."""

    __slots__ = ("event", "held_ns", "host_ns", "kind")

    def __init__(self, event: Any) -> None:
        self.event = event
        self.kind = WAIT
        self.host_ns = 0  # when the host put it there
        self.held_ns = 0  # from there on, of the time that the host spent in copies: in those that make it wait


class Step:
    """One next() and what follows up to the next one."""

    __slots__ = (
        *("aside", "copies", "end", "end_is_shared", "every", "got_mark", "heard", "iterator", "last_copy_ns"),
        *("marks", "ordinal", "resting", "stream", "sync_ns", "syncs", "wait_ns", "was_busy"),
    )

    def __init__(self, iterator: int, every: int, stream: Any, *, heard: bool) -> None:
        self.iterator = iterator
        self.ordinal = UNKNOWN
        self.every = every  # the number of steps that it stands for; 0 once a graph was captured in it
        self.heard = heard  # copies and waits are told of; else they are not known
        self.stream = stream
        self.wait_ns = UNKNOWN  # on the host's clock
        self.was_busy = False  # the stream was still at work when next() returned
        self.resting = WAIT  # what goes on where nothing special does
        self.marks: list[Mark] = []
        self.got_mark = 0  # index in `marks`
        self.end: Mark | None = None
        self.end_is_shared = False  # it is also the first mark of the following step
        self.aside: list[tuple[Mark, Mark]] | None = None  # around copies in other streams
        self.last_copy_ns = NEVER_NS  # host time of the last mark, where a copy soon after goes on from it
        self.copies: Copies | None = None
        self.sync_ns = self.syncs = 0 if heard else UNKNOWN


class Lane:
    """Measures with points that carry a time stamp."""

    def __init__(
        self, backend: Backend, index: int, writer: Writer, now_ns: Callable[[], int], method: int = METHOD_EVENTS
    ) -> None:
        self.index = index
        self.method = method
        self.step: Step | None = None
        self.copies_inside = False  # next() copies to the device itself, so a wait is known only where copies are
        self._backend = backend
        self._writer = writer
        self._now_ns = now_ns
        self._pending: deque[Step] = deque()
        self._free: list[Mark] = []
        self._records: list[tuple[int, ...]] = []
        self._at_once = 1  # until the device has told a first time
        self._asked_ns = 0
        self._copy_stream: Any = None
        self._copies_aside = False  # as of the last measured step that had copies
        self._aside_start: Mark | None = None
        self._side_is_open = False  # copies went to another stream, and this one has not waited for them yet
        self._missed_copies = False  # the last step was not heard

    # -- what the script does, in order

    def request(self, iterator: int, every: int, *, hears: bool) -> None:
        """Just before next(): the last step ends and a new one begins."""
        last, self.step = self.step, None
        self._missed_copies = last is None or not last.heard
        self._side_is_open &= not self._missed_copies  # the wait for them may have been missed, too
        if last is not None and (last.wait_ns == UNKNOWN or not last.every):
            last = None  # it never came to its batch, or a graph was captured in it
        if last is None and not every:
            return
        if self._backend.capturing():
            return  # a point would become a node of the graph, and asking for one breaks the capture
        if len(self._pending) >= self._at_once and every:
            self.resolve()
        if last is not None:
            last.end = self._record(last.stream)
            self._pending.append(last)
        if every and len(self._pending) <= MOST_PENDING:
            self.step = self._open(iterator, every, last, heard=hears)
            self._asked_ns = self._now_ns()

    def got(self, ordinal: int) -> None:
        """Just after next()."""
        step = self.step
        if step is None:
            return
        now_ns = self._now_ns()
        step.ordinal = ordinal
        step.wait_ns = wait_ns = now_ns - self._asked_ns
        step.resting = COMPUTE
        if step.every:
            marks = step.marks
            step.got_mark = len(marks)
            self._mark(step, COMPUTE)
            # after a longer wait the points themselves tell
            step.was_busy = wait_ns <= ASKED_NS and not self._backend.done(marks[0].event)
            step.last_copy_ns = self._now_ns()

    def copying(self) -> None:
        """A copy to this device is about to be enqueued in the thread's current stream."""
        step = self.step
        if step is None or not step.every:
            return
        self._copy_stream = stream = self._backend.stream(self.index)
        aside = self._copies_aside = stream != step.stream
        self.copies_inside |= step.resting == WAIT
        if not aside and self._now_ns() - step.last_copy_ns <= RUN_GAP_NS:
            last = step.marks[-1]
            if len(step.marks) == step.got_mark + 1:
                last.kind = COPY  # the first copy follows the batch so closely that it begins there
            return
        if self._backend.capturing():
            step.every = 0
        elif aside:
            self._aside_start = self._record(stream)
        else:
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
        marks = step.marks
        if marks[-1].kind == COPY:
            if copy is None:
                marks[-1].kind = step.resting
                return
            self._mark(step, step.resting)
        else:  # the run goes on: its end moves
            end = marks[-1]
            end.host_ns = self._now_ns()
            self._backend.record(end.event, step.stream)
        if copy is not None and (copy.blocking or not copy.pinned):
            marks[-2].held_ns += copy.host_ns
        step.last_copy_ns = marks[-1].host_ns

    def hold(self, stream: Any) -> bool:
        """A stream is about to wait for another; True where `released` is to be called afterwards."""
        step = self.step
        if step is None or not step.every or stream != step.stream:
            return False
        # The copies may have been in a step that was not heard.
        if not self._side_is_open and not (self._copies_aside and self._missed_copies):
            return False
        if self._backend.capturing():
            step.every = 0
            return False
        self._mark(step, HELD)
        step.last_copy_ns = NEVER_NS
        return True

    def released(self) -> None:
        """The wait has been enqueued."""
        self._side_is_open = self._missed_copies = False
        if self.step is not None and self.step.every:
            self._mark(self.step, self.step.resting)

    def synced(self, host_ns: int) -> None:
        """The host asked for a value, and got it after so long."""
        if self.step is not None and self.step.heard:
            self.step.sync_ns += host_ns
            self.step.syncs += 1

    def stepped(self) -> None:
        """An optimizer's step has been enqueued: points with time stamps need no help of it."""

    # -- what the device has done

    def resolve(self) -> None:
        """Write the oldest steps that the device has passed, `AT_ONCE` at most, so that no request pays for many."""
        pending = self._pending
        oldest = [*islice(pending, AT_ONCE)]
        for step in oldest if self._are_passed(oldest) else takewhile(self._is_passed, oldest):
            pending.popleft()
            self._write(step)
            self._at_once = AT_ONCE
        self._flush()

    def finish(self) -> None:
        """Write what can be said of the steps that the device has not passed, or that nothing followed."""
        left = -1
        while left != len(self._pending):
            left = len(self._pending)
            self.resolve()
        step, self.step = self.step, None
        for unfinished in [*self._pending, *([step] if step is not None else [])]:
            if unfinished.every and unfinished.wait_ns != UNKNOWN:
                self._write_unfinished(unfinished)
        self._pending.clear()
        self._flush()

    def _are_passed(self, steps: list[Step]) -> bool:
        """Whether one question is enough: the last of steps that have nothing but one stream is passed."""
        last = steps[-1] if steps else None
        if last is None or any(step.aside or step.stream != last.stream for step in steps):
            return False
        return self._is_passed(last)

    def _is_passed(self, step: Step) -> bool:
        done = self._backend.done
        return (
            step.end is not None
            and done(step.end.event)
            and (step.aside is None or all(done(end.event) for _, end in step.aside))
        )

    def _write(self, step: Step) -> None:
        marks, end = step.marks, step.end
        if end is None:
            return
        ends = marks if marks[-1].kind == COMPUTE else [*marks, end]
        self._write_step(step, self._lengths(ends), self._backend.elapsed_ns(marks[0].event, end.event))
        self._free += marks
        if step.aside is not None:
            self._free += [mark for pair in step.aside for mark in pair]
        if not step.end_is_shared:
            self._free.append(end)

    def _write_unfinished(self, step: Step) -> None:
        done = self._backend.done
        if not done(step.marks[0].event):
            # the stream has not come to the request even now: it had work all through next()
            self._write_copies(step, UNKNOWN)
            self._put(step, METHOD_WITNESS, 0, 0, 0, UNKNOWN, UNKNOWN, drained=False)
        elif done(step.marks[-1].event) and all(done(end.event) for _, end in step.aside or ()):
            self._write_step(step, self._lengths(step.marks), UNKNOWN)

    def _lengths(self, marks: list[Mark]) -> list[int]:
        """Device time from mark to mark: only neighbours are compared, so that float32 milliseconds do."""
        elapsed_ns = self._backend.elapsed_ns
        return [elapsed_ns(start.event, end.event) for start, end in pairwise(marks)]

    def _write_step(self, step: Step, lengths: list[int], step_ns: int) -> None:
        wait_ns = copy_ns = 0
        for mark, length in zip(step.marks, lengths, strict=False):
            if mark.kind == WAIT:
                wait_ns += length
            elif mark.kind == COPY:
                copy_ns += length
        if step.copies is not None:
            aside_ns = sum(self._backend.elapsed_ns(start.event, end.event) for start, end in step.aside or ())
            self._write_copies(step, copy_ns + aside_ns)
        inside_ns = sum(lengths[: step.got_mark])
        drained = not step.was_busy and inside_ns >= step.wait_ns - ROUGHLY_NS
        exposed_ns = _exposed_ns(step, lengths) if step.heard else UNKNOWN
        self._put(step, self.method, *self._interval(wait_ns), exposed_ns, step_ns, drained=drained)

    def _write_copies(self, step: Step, device_ns: int) -> None:
        if step.copies is not None:
            self._records.append(step.copies.record(step.iterator, step.ordinal, self.index, device_ns))

    def _flush(self) -> None:
        records, self._records = self._records, []
        if records:
            self._writer.put_all(records)

    def _interval(self, wait_ns: int) -> tuple[int, int, int]:
        """Lower bound, best value and upper bound.  A gap between steps may be anything but too short."""
        if self.method == METHOD_GAP:
            return 0, wait_ns, wait_ns
        low_ns = 0 if wait_ns < SILENT_NS else wait_ns - NOISE_NS
        return low_ns, wait_ns, wait_ns + NOISE_NS

    def _put(self, step: Step, method: int, *times: int, drained: bool) -> None:
        """`times` are the wait's bounds and best value, copies, and the step; ns."""
        named = (_DEVICE_STEP, step.iterator, step.ordinal, self.index, method)
        self._records.append((*named, *times, int(drained), step.every, step.sync_ns, step.syncs))

    # -- points

    def _open(self, iterator: int, every: int, last: Step | None, *, heard: bool) -> Step:
        """A measured step, which begins where the last one ended."""
        stream = self._backend.stream(self.index)
        step = Step(iterator, every, stream, heard=heard)
        if last is not None and last.end is not None and last.stream == stream:
            last.end_is_shared = True
            last.end.kind = WAIT
            step.marks.append(last.end)
        else:
            self._mark(step, WAIT)
        return step

    def _mark(self, step: Step, kind: int) -> None:
        mark = self._record(step.stream)
        mark.kind = kind
        step.marks.append(mark)

    def _record(self, stream: Any) -> Mark:
        mark = self._free.pop() if self._free else Mark(self._backend.event())
        mark.held_ns = 0
        mark.host_ns = self._now_ns()
        self._backend.record(mark.event, stream)
        return mark

    def _end_aside(self, step: Step, stream: Any) -> None:
        start, self._aside_start = self._aside_start, None
        if start is not None:
            if step.aside is None:
                step.aside = []
            step.aside.append((start, self._record(stream)))
        self._side_is_open = True


def _exposed_ns(step: Step, lengths: list[int]) -> int:
    """How long the stream was busy with copies, or waited for them.

    As long as the stream keeps up with the host, what lies between two marks is the host's time or the copy's, whichever is
    longer: all of it only where the host waited.
    """
    marks, rested = step.marks, _rested(step, lengths)
    exposed_ns = behind_ns = 0
    for place, length in enumerate(lengths):
        own_ns = length
        if rested and step.got_mark <= place < len(marks) - 1:
            host_ns = marks[place + 1].host_ns - marks[place].host_ns
            if behind_ns <= SILENT_NS:
                own_ns = max(0, min(length, length - host_ns + marks[place].held_ns))
            behind_ns += length - host_ns
        if marks[place].kind in (COPY, HELD):
            exposed_ns += own_ns
    return exposed_ns


def _rested(step: Step, lengths: list[int]) -> bool:
    """Whether the stream had come to the mark of the batch when the host put it there."""
    if step.wait_ns <= ASKED_NS and step.got_mark == 1:
        return not step.was_busy
    last = step.got_mark - 1
    return step.marks[last].kind == WAIT and lengths[last] >= SILENT_NS
