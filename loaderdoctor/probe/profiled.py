"""One batch in many is made under sys.setprofile: how long its stages take, where it waits, where short ones spend CPU time.

Nothing of any library is replaced for it.  No timer could tell where a batch waits: ITIMER_PROF stands still while the thread
is blocked, and ITIMER_REAL would take SIGALRM from the script and interrupt the system calls of C libraries.  Nor does
ITIMER_PROF ever fire when it is armed for a few milliseconds at a time, as for short batches in the main process: the kernel
adds a tick each time.  A profiled batch costs about a microsecond and a half a call, so it is done rarely enough to stay below
`MOST_COST`, and never where the script has a profiler or a tracer of its own.
"""

from __future__ import annotations

import sys
from _thread import _local
from time import perf_counter_ns, thread_time_ns
from typing import TYPE_CHECKING, Any, Protocol

from .faults import pass_on
from .layout import KIND_OF, KINDS
from .stacks import describe, sampler, stack_of
from .stages import Known
from .standard import standard

if TYPE_CHECKING:
    from types import CodeType, FrameType

    from .stacks import Stack

SHORT_BATCH_NS = 30_000_000  # three periods of the timer; below, the timer sees too little of the main process
SHORTEST_WAIT_NS = 100_000  # a call that waits less is noise of the scheduler
SHORTEST_CPU_NS = 20_000  # ten times what the profiler itself adds to a call
SHORT_STRETCH_NS = (
    20_000  # between two calls: an operation on an array that takes less is the interpreter's, not the array's
)
SHORT_CALL_NS = 1_000  # of a function in C: an operation on an array takes as long before it has begun
FIRST_AFTER = 4  # batches; the first ones open files and import
EVERY = 16  # batches at least between two profiled ones
OWN_CALLS = 2  # calls open where a stream's own __iter__ calls something: next(), and __iter__ itself
OFTEN = 8  # calls in a batch: fewer tell of no items that a stream goes through
MOST_COST = 0.001  # share of the time of making batches
CALIBRATION_CALLS = 64  # of a function that does nothing: a tenth of a millisecond, once a process
_STACK, _STAGE, _PROFILED = KIND_OF["stack"], KIND_OF["stage"], KIND_OF["profiled"]
_TOOLS_OF_OTHERS = (0, 1, 2)  # of sys.monitoring, from 3.12 on: a debugger's, coverage's, a profiler's


class Writer(Protocol):
    """The part of the probe's writer that stages and stacks use."""

    def put(self, kind: int, *fields: int) -> None:
        """Append one record."""

    def text(self, text: str) -> int:
        """Number of a text, written once."""


class _Call:
    """A call that has not returned; ns.  `inside` is what the calls in it took, `stages` what the stages in it took.  `pixels` are those of an image that it is about to take and to give."""

    __slots__ = (
        *("began_ns", "began_cpu_ns", "events", "calls", "inside_ns", "inside_cpu_ns"),
        *("stage", "stages_ns", "stages_cpu_ns", "pixels"),
    )

    def __init__(self, stage: str | None, events: int, pixels: tuple[int, int] = (0, 0)) -> None:
        self.stage = stage
        self.pixels = pixels
        self.events = events
        self.calls = 1  # its own code runs before, between and after those that it makes
        self.inside_ns = self.inside_cpu_ns = self.stages_ns = self.stages_cpu_ns = 0
        self.began_cpu_ns = thread_time_ns()
        self.began_ns = perf_counter_ns()


class Profile:
    """What the calls of one batch took by themselves, and its stages without the stages inside them.

    `event_ns` is what this profiler itself takes for one event, and is taken off.
    """

    def __init__(self, known: Known, event_ns: float) -> None:
        self.known = known
        self.event_ns = event_ns
        self.open: list[_Call] = []
        self.stages_open: list[_Call] = []
        self.took: dict[tuple[Stack, str | None], list[int]] = {}  # (stack, C function) -> [CPU ns, waited ns]
        self.stages: dict[str, list[int]] = {}  # name -> [calls, self ns, self CPU ns, total ns, pixels in, pixels out]
        self.is_stream = False
        self.called: dict[str, int] = {}  # what a stream's __iter__ calls itself, and how often
        self.events = 0
        self.cpu_ns = self.interpreted_ns = 0
        self.loops: dict[CodeType, bool] = {}

    def on_event(self, frame: FrameType, event: str, arg: Any) -> None:
        """Called by the interpreter at each call and return; a fault of ours ends the profile, never the script."""
        try:
            self._on_event(frame, event, arg)
        except Exception as error:
            sys.setprofile(None)
            pass_on(error)

    def _on_event(self, frame: FrameType, event: str, arg: Any) -> None:
        self.events += 1
        if event in {"call", "c_call"}:
            stage = self.known.of_call(frame) if event == "call" else self.known.of_c_call(arg)
            is_image = stage is not None and event == "call"
            call = _Call(stage, self.events, self.known.pixels_of(frame) if is_image else (0, 0))
            if self.is_stream:
                self._count(frame, event, arg)
            elif arg is next:  # asked alike of every call: what an event costs is measured by calls of one kind
                self.is_stream = not self.open
            self.open.append(call)
            if stage is not None:
                self.stages_open.append(call)
        elif self.open:
            now_ns, now_cpu_ns = perf_counter_ns(), thread_time_ns()
            self._returned(self.open.pop(), now_ns, now_cpu_ns, frame, arg if event.startswith("c_") else None)

    def _count(self, frame: FrameType, event: str, arg: Any) -> None:
        """What a stream's own __iter__ calls."""
        if len(self.open) == OWN_CALLS:
            name = frame.f_code.co_name if event == "call" else getattr(arg, "__name__", "")
            self.called[name] = self.called.get(name, 0) + 1

    def _returned(self, call: _Call, now_ns: int, now_cpu_ns: int, frame: FrameType, function: Any) -> None:
        ours_ns = int((self.events - call.events) * self.event_ns)
        wall_ns, cpu_ns = (
            max(0, now_ns - call.began_ns - ours_ns),
            max(0, now_cpu_ns - call.began_cpu_ns - ours_ns),
        )
        if self.open:
            self.open[-1].calls += 1
            self.open[-1].inside_ns += wall_ns
            self.open[-1].inside_cpu_ns += cpu_ns
        if call.stage is not None:
            self._ended(call.stage, call, wall_ns, cpu_ns)
        own_cpu_ns = cpu_ns - call.inside_cpu_ns
        self.cpu_ns += max(0, own_cpu_ns)
        is_short = own_cpu_ns < (SHORT_CALL_NS if function is not None else SHORT_STRETCH_NS * call.calls)
        if is_short or (function is None and self._computes(frame.f_code)):
            self.interpreted_ns += max(0, own_cpu_ns)
        self._add(frame, function, wall_ns - call.inside_ns, own_cpu_ns)

    def _computes(self, code: CodeType) -> bool:
        """Whether a function that calls little loops over single numbers: asked once a profile."""
        if code not in self.loops:
            self.loops[code] = loops_over_numbers(code)
        return self.loops[code]

    def _ended(self, stage: str, call: _Call, wall_ns: int, cpu_ns: int) -> None:
        while self.stages_open and self.stages_open.pop() is not call:
            pass
        if self.stages_open:
            self.stages_open[-1].stages_ns += wall_ns
            self.stages_open[-1].stages_cpu_ns += cpu_ns
        took = self.stages.setdefault(stage, [0, 0, 0, 0, 0, 0])
        took[0] += 1
        took[1] += max(0, wall_ns - call.stages_ns)
        took[2] += max(0, cpu_ns - call.stages_cpu_ns)
        took[3] += wall_ns
        took[4] += call.pixels[0]
        took[5] += call.pixels[1]

    def _add(self, frame: FrameType, function: Any, wall_ns: int, cpu_ns: int) -> None:
        waited_ns = wall_ns - cpu_ns
        if waited_ns < SHORTEST_WAIT_NS and cpu_ns < SHORTEST_CPU_NS:
            return
        took = self.took.setdefault((stack_of(frame), _name_of(function)), [0, 0])
        took[0] += cpu_ns
        took[1] += waited_ns if waited_ns >= SHORTEST_WAIT_NS else 0


class _Due(_local):
    """Which batch of this thread is to be profiled next."""

    def __init__(self) -> None:
        self.profile: Profile | None = None
        self.began_ns = 0
        self.after = FIRST_AFTER  # batches


_due = _Due()
_known = Known()
_event_ns: list[float] = []  # once it is known


def batch_began() -> None:
    """Start the profile where it is due."""
    if _due.after <= 0 and _is_free():
        try:
            _known.refresh()
            profile = Profile(_known, _cost_of_event_ns())
        except Exception as error:
            pass_on(error)
        else:
            _due.profile = profile
            _due.began_ns = perf_counter_ns()
            sys.setprofile(profile.on_event)
            return
    _due.began_ns = perf_counter_ns()


def batch_ended(writer: Writer, worker: int) -> None:
    """End it, write what it saw, and say when the next one is due."""
    profile = forget()
    took_ns = perf_counter_ns() - _due.began_ns
    if profile is None:
        _due.after -= 1
        return
    ours_ns = profile.events * profile.event_ns
    _write(profile, writer, worker, max(0, int(took_ns - ours_ns)))
    _due.after = max(EVERY, int(ours_ns / (MOST_COST * max(1, took_ns))))


def forget() -> Profile | None:
    """The profile of the batch that is being made, if any, which ends."""
    profile, _due.profile = _due.profile, None
    if profile is not None and sys.getprofile() == profile.on_event:
        sys.setprofile(None)
    return profile


def forked() -> None:
    """A fork's first thread makes no batch yet, and counts its own."""
    forget()
    _due.after = FIRST_AFTER


def _is_free() -> bool:
    """Whether the script has no profiler, tracer, debugger or coverage of its own in this thread.

    In Python 3.10 there is no profile at all: it would keep alive what a profiled frame has deleted.
    """
    if sys.version_info < (3, 11) or sys.getprofile() is not None or sys.gettrace() is not None:
        return False
    monitoring: Any = getattr(sys, "monitoring", None)
    return monitoring is None or all(monitoring.get_tool(tool) is None for tool in _TOOLS_OF_OTHERS)


def _cost_of_event_ns() -> float:
    """What one event costs in this process, by calls of a function that does nothing; the least of three tries."""
    if not _event_ns:
        _event_ns.append(min(_tried_ns() for _ in range(3)))
    return _event_ns[0]


def _tried_ns() -> float:
    profile = Profile(_known, 0.0)
    calls = range(CALIBRATION_CALLS)
    began_ns = perf_counter_ns()
    for _ in calls:
        _nothing()
    without_ns = perf_counter_ns() - began_ns
    began_ns = perf_counter_ns()
    try:
        sys.setprofile(profile.on_event)
        for _ in calls:
            _nothing()
    finally:
        sys.setprofile(None)
    with_ns = perf_counter_ns() - began_ns
    return max(0.0, (with_ns - without_ns) / (2 * CALIBRATION_CALLS))


def loops_over_numbers(code: CodeType) -> bool:
    """Whether most arithmetic of a function with a loop has been of ints and floats, as the interpreter itself has noted.

    It puts an instruction for those in the place of a general one once it has met them a few times; arrays keep that.
    """
    dis: Any = standard("dis")
    names = [instruction.opname for instruction in dis.get_instructions(code, adaptive=True)]
    numbers = sum(name.startswith(("BINARY_OP_", "COMPARE_OP_")) and "ADAPTIVE" not in name for name in names)
    general = sum(name in {"BINARY_OP", "BINARY_OP_ADAPTIVE", "COMPARE_OP", "COMPARE_OP_ADAPTIVE"} for name in names)
    return numbers > general and any(name.startswith("JUMP_BACKWARD") for name in names)


def _nothing() -> None:
    """To be called."""


def _write(profile: Profile, writer: Writer, worker: int, took_ns: int) -> None:
    """What the batch took, a `stage` record a stage, and a `stack` record a stack.

    Stacks have CPU time only where the timer does not tell it already.
    """
    timer_is_blind = worker < 0 and took_ns < SHORT_BATCH_NS
    now_ns = perf_counter_ns()
    writer.put(_PROFILED, worker, now_ns, 1, took_ns, profile.cpu_ns, profile.interpreted_ns)
    for name, took in profile.stages.items():
        writer.put(_STAGE, worker, writer.text(name), now_ns, *took)
    name, calls = max(profile.called.items(), key=lambda called: called[1], default=("", 0))
    if calls >= OFTEN:
        writer.put(_STAGE, worker, writer.text(f"called:{name}"), now_ns, calls, *(0,) * (len(KINDS[_STAGE][1]) - 4))
    for (stack, function), (cpu_ns, waited_ns) in profile.took.items():
        told_cpu_ns = cpu_ns if timer_is_blind else 0
        if told_cpu_ns or waited_ns:
            text = describe(stack, function)
            if sampler.may_tell(text):
                writer.put(_STACK, worker, now_ns, writer.text(text), told_cpu_ns, 1, waited_ns)


def _name_of(function: Any) -> str | None:
    """Name of a function written in C, "module.name"."""
    if function is None:
        return None
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "?")
    return f"{module}.{name}" if module else name
