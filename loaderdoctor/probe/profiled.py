"""One batch in many is made under sys.setprofile: in which calls it waits, and where short ones spend CPU time.

No timer can tell where a batch waits: ITIMER_PROF stands still while the thread is blocked, and ITIMER_REAL would take
SIGALRM from the script and interrupt the system calls of C libraries.  Nor does ITIMER_PROF ever fire when it is armed for
a few milliseconds at a time, as for short batches in the main process: the kernel adds a tick each time.  A profiled batch
costs about a microsecond and a half a call, so it is done rarely enough to stay below `MOST_COST`, and never where the
script has a profiler of its own.
"""

from __future__ import annotations

import sys
import threading
from time import perf_counter_ns, thread_time_ns
from typing import TYPE_CHECKING, Any

from .layout import KIND_OF
from .stacks import describe, stack_of

if TYPE_CHECKING:
    from types import FrameType

    from .stacks import Stack
    from .stage_clock import Writer

WAITING_SHARE = 0.10  # of a batch's wall time off the CPU; below, no line is worth naming
SHORT_BATCH_NS = 30_000_000  # three periods of the timer; below, the timer sees too little of the main process
SHORTEST_WAIT_NS = 100_000  # a call that waits less is noise of the scheduler
SHORTEST_CPU_NS = 20_000  # ten times what the profiler itself adds to a call
FIRST_AFTER = 4  # batches; the first ones open files and import
EVERY = 64  # batches at least between two profiled ones
MOST_COST = 0.001  # share of the time of making batches
EVENT_NS = 1_500  # measured cost of one call and its return under `_Profile.on_event`
_STACK = KIND_OF["stack"]


class _Profile:
    """What the calls of one batch took by themselves: {(stack, C function): [CPU ns, waited ns]}."""

    def __init__(self) -> None:
        self.open: list[list[int]] = []  # [began wall ns, began CPU ns, wall inside ns, CPU inside ns]
        self.took: dict[tuple[Stack, str | None], list[int]] = {}
        self.events = 0

    def on_event(self, frame: FrameType, event: str, arg: Any) -> None:
        """Called by the interpreter at each call and return."""
        self.events += 1
        if event in {"call", "c_call"}:
            self.open.append([perf_counter_ns(), thread_time_ns(), 0, 0])
        elif self.open:
            began_ns, began_cpu_ns, inside_ns, inside_cpu_ns = self.open.pop()
            wall_ns, cpu_ns = perf_counter_ns() - began_ns, thread_time_ns() - began_cpu_ns
            if self.open:
                self.open[-1][2] += wall_ns
                self.open[-1][3] += cpu_ns
            self._add(frame, arg if event.startswith("c_") else None, wall_ns - inside_ns, cpu_ns - inside_cpu_ns)

    def _add(self, frame: FrameType | None, function: Any, wall_ns: int, cpu_ns: int) -> None:
        waited_ns = wall_ns - cpu_ns
        if waited_ns < SHORTEST_WAIT_NS and cpu_ns < SHORTEST_CPU_NS:
            return
        took = self.took.setdefault((stack_of(frame), _name_of(function)), [0, 0])
        took[0] += cpu_ns
        took[1] += waited_ns if waited_ns >= SHORTEST_WAIT_NS else 0


class _Due(threading.local):
    """Which batch of this thread is to be profiled next."""

    def __init__(self) -> None:
        self.profile: _Profile | None = None
        self.began_ns = self.began_cpu_ns = 0
        self.after = FIRST_AFTER  # batches that deserve it


_due = _Due()


def batch_began() -> None:
    """Start the profile where it is due."""
    if _due.after <= 0 and sys.getprofile() is None:
        _due.profile = _Profile()
        sys.setprofile(_due.profile.on_event)
    _due.began_cpu_ns = thread_time_ns()
    _due.began_ns = perf_counter_ns()


def batch_ended(writer: Writer, worker: int) -> None:
    """End it, write what it saw, and say when the next one is due."""
    profile = forget()
    took_ns = perf_counter_ns() - _due.began_ns
    waited_ns = took_ns - (thread_time_ns() - _due.began_cpu_ns)
    timer_is_blind = worker < 0 and took_ns < SHORT_BATCH_NS
    if profile is not None:
        _write(profile, writer, worker, timer_is_blind)
        _due.after = max(EVERY, int(profile.events * EVENT_NS / 2 / (MOST_COST * took_ns)))
    elif _due.after > 1 or timer_is_blind or waited_ns > WAITING_SHARE * took_ns:
        _due.after -= 1  # the last step is taken only by a batch that deserves a profile


def forget() -> _Profile | None:
    """The profile of the batch that is being made, if any, which ends."""
    profile, _due.profile = _due.profile, None
    if profile is not None and sys.getprofile() == profile.on_event:
        sys.setprofile(None)
    return profile


def _write(profile: _Profile, writer: Writer, worker: int, timer_is_blind: bool) -> None:
    """One `stack` record a stack; CPU time only where the timer does not tell it already."""
    now_ns = perf_counter_ns()
    for (stack, function), (cpu_ns, waited_ns) in profile.took.items():
        told_cpu_ns = cpu_ns if timer_is_blind else 0
        if told_cpu_ns or waited_ns:
            writer.put(_STACK, worker, now_ns, writer.text(describe(stack, function)), told_cpu_ns, 1, waited_ns)


def _name_of(function: Any) -> str | None:
    """Name of a function written in C, "module.name"."""
    if function is None:
        return None
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "?")
    return f"{module}.{name}" if module else name
