"""The stages that run in this thread, and how long each took without the stages inside it."""

from __future__ import annotations

import threading
from time import perf_counter_ns, thread_time_ns
from typing import Protocol

from . import profiled
from .layout import KIND_OF

FLUSH_EVERY_NS = 1_000_000_000  # a reader needs no finer grain, and a record a stage and batch would cost 3 us each
_STAGE = KIND_OF["stage"]


class Writer(Protocol):
    """The part of the probe's writer that stages use."""

    def put(self, kind: int, *fields: int) -> None:
        """Append one record."""

    def text(self, text: str) -> int:
        """Number of a text, written once."""


class Total:
    """What one stage took since it was last written; ns."""

    __slots__ = ("calls", "self_cpu_ns", "self_ns", "total_ns")

    def __init__(self) -> None:
        self.calls = self.self_ns = self.self_cpu_ns = self.total_ns = 0


class Span:
    """One call of a stage: when it began, and what the stages inside it have taken so far."""

    __slots__ = ("began_cpu_ns", "began_ns", "inner_cpu_ns", "inner_ns")

    def __init__(self) -> None:
        self.inner_ns = self.inner_cpu_ns = 0
        self.began_cpu_ns = thread_time_ns()
        self.began_ns = perf_counter_ns()


class Running(threading.local):
    """The open stages of this thread, innermost last.  `depth` is above 0 while a batch is being made."""

    def __init__(self) -> None:
        self.depth = 0
        self.open: list[Span] = []
        self.totals: dict[str, Total] = {}
        self.flushed_ns = perf_counter_ns()

    def enter(self) -> Span:
        """Begin a stage."""
        span = Span()
        self.open.append(span)
        return span

    def leave(self, span: Span, name: str) -> None:
        """End it, whatever was left open inside it by an exception."""
        took_ns = perf_counter_ns() - span.began_ns
        took_cpu_ns = thread_time_ns() - span.began_cpu_ns
        while self.open and self.open.pop() is not span:
            pass
        total = self.totals.get(name)
        if total is None:
            total = self.totals[name] = Total()
        total.calls += 1
        total.self_ns += took_ns - span.inner_ns
        total.self_cpu_ns += took_cpu_ns - span.inner_cpu_ns
        total.total_ns += took_ns
        if self.open:
            outer = self.open[-1]
            outer.inner_ns += took_ns
            outer.inner_cpu_ns += took_cpu_ns


running = Running()


def batch_began() -> None:
    """From here on the wrappers of this thread measure."""
    running.depth += 1
    if running.depth == 1:
        profiled.batch_began()


def batch_ended(writer: Writer, worker: int) -> None:
    """The batch is made; writes what has been added up if that was long enough ago."""
    running.depth -= 1
    if running.depth == 0:
        profiled.batch_ended(writer, worker)
        running.open.clear()
        if perf_counter_ns() - running.flushed_ns > FLUSH_EVERY_NS:
            flush(writer, worker)


def forget() -> None:
    """A fork's first thread makes no batch, and what its parent added up is the parent's."""
    running.depth = 0
    running.open.clear()
    running.totals.clear()
    profiled.forget()


def flush(writer: Writer, worker: int) -> None:
    """Write one `stage` record for each stage that ran in this thread since the last time."""
    now_ns = running.flushed_ns = perf_counter_ns()
    for name, total in running.totals.items():
        took = (total.calls, total.self_ns, total.self_cpu_ns, total.total_ns)
        writer.put(_STAGE, worker, writer.text(name), now_ns, *took)
    running.totals.clear()
