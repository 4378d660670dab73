"""A few steps under torch's profiler, with the device's activities only, at the end of a run that --steps or --seconds ends.

It cross-checks the device clock: what the device really executed, against what the events around next() say.  The profiler
may slow a process down for good, so it is opened only when the steps that count have been measured, and the script ends
with it.  Refused where a profiler of the script's is active, and where the device's activities cannot be traced.
"""

from __future__ import annotations

import sys
from time import perf_counter_ns, time_ns
from typing import TYPE_CHECKING, Any, NamedTuple

from .layout import KIND_OF

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .writer import Writer

ACTIVITIES = {"cuda": "CUDA", "xpu": "XPU", "privateuseone": "PrivateUse1"}
_TRACE_WINDOW = KIND_OF["trace_window"]

Span = tuple[int, int]


class Operation(NamedTuple):
    """What the device executed, in ns of time.perf_counter_ns."""

    begin_ns: int
    end_ns: int
    is_copy: bool  # from the host to the device


class TraceWindow:
    """The window of one process: not yet open, open for `steps` batches, or over."""

    def __init__(self, writer: Writer, steps: int) -> None:
        self.steps = steps
        self.waits: list[Span] = []  # next() calls while it is open
        self._writer = writer
        self._profiler: Any = None
        self._began_ns = 0

    def goes_on(self) -> bool:
        """Asked before each next() once the measured steps are over: whether the script is to go on for the window."""
        if self._profiler is None:
            return self._began_ns == 0 and self._open()
        if len(self.waits) < self.steps:
            return True
        self.close()
        return False

    def waited(self, begin_ns: int, end_ns: int) -> None:
        """A next() call has ended."""
        if self._profiler is not None:
            self.waits.append((begin_ns, end_ns))

    def close(self) -> None:
        """Stop the profiler and write what it saw, if it is open."""
        profiler, self._profiler = self._profiler, None
        if profiler is None:
            return
        try:
            end_ns = perf_counter_ns()
            profiler.stop()
            operations = read_operations(profiler.profiler.kineto_results.events(), time_ns() - perf_counter_ns())
            self._writer.put(_TRACE_WINDOW, *summary(operations, self.waits, self._began_ns, end_ns))
        except Exception as error:
            self._refuse(f"The profiler's window could not be read: {repr(error)[:200]}.")

    def _open(self) -> bool:
        self._began_ns = perf_counter_ns()
        torch: Any = sys.modules["torch"]
        try:
            if torch.autograd._profiler_enabled():
                return self._refuse("The script has a profiler of its own running; a device takes only one.")
            activity = _device_activity(torch)
            if activity is None:
                return self._refuse("torch cannot trace what this device executes.")
            self._profiler = torch.profiler.profile(activities=[activity])
            self._profiler.start()
        except Exception as error:
            self._profiler = None
            return self._refuse(f"The profiler could not be started: {repr(error)[:200]}.")
        return True

    def _refuse(self, why: str) -> bool:
        self._writer.note("trace-window-refused", why)
        return False


def _device_activity(torch: Any) -> Any:
    """The profiler activity of the device in use; None where there is none."""
    if not hasattr(torch, "accelerator") or not torch.accelerator.is_available():
        return None
    kind = torch.accelerator.current_accelerator().type
    activity = getattr(torch.profiler.ProfilerActivity, ACTIVITIES.get(kind, ""), None)
    return activity if activity in torch.profiler.supported_activities() else None


def read_operations(events: Iterable[Any], unix_offset_ns: int) -> list[Operation]:
    """Kernels and copies of the profiler's events; `unix_offset_ns` is Unix time minus time.perf_counter_ns."""
    operations = []
    for event in events:
        if str(event.device_type()).endswith("CPU"):
            continue
        begin_ns = event.start_ns() - unix_offset_ns
        name = event.name()
        operations.append(Operation(begin_ns, begin_ns + event.duration_ns(), name.startswith("Memcpy HtoD")))
    return operations


def summary(operations: Sequence[Operation], waits: Sequence[Span], begin_ns: int, end_ns: int) -> tuple[int, ...]:
    """The fields of a `trace_window` record.

    From the first wait to the window's end: the profiler's own start is none of the script's.
    """
    first_ns = waits[0][0] if waits else begin_ns
    busy = _union((operation.begin_ns, operation.end_ns) for operation in operations)
    idle = _gaps(busy, first_ns, end_ns)
    copies = sum(operation.end_ns - operation.begin_ns for operation in operations if operation.is_copy)
    return (
        *(begin_ns, first_ns, end_ns, len(waits), len(operations)),
        *(_length(idle), _overlap(idle, waits), copies),
    )


def _union(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((begin, end))
    return joined


def _gaps(busy: Sequence[Span], begin: int, end: int) -> list[Span]:
    gaps, at = [], begin
    for first, last in busy:
        if first > at:
            gaps.append((at, min(first, end)))
        at = max(at, last)
        if at >= end:
            return gaps
    gaps.append((at, end))
    return gaps


def _length(spans: Iterable[Span]) -> int:
    return sum(end - begin for begin, end in spans)


def _overlap(some: Sequence[Span], others: Sequence[Span]) -> int:
    """Time that is in both; each list is in order and does not overlap itself."""
    total, k = 0, 0
    for begin, end in some:
        while k < len(others) and others[k][1] <= begin:
            k += 1
        j = k
        while j < len(others) and others[j][0] < end:
            total += max(0, min(end, others[j][1]) - max(begin, others[j][0]))
            j += 1
    return total
