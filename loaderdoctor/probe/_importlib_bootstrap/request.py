"""A call of next() from when it was made on, and what becomes of it in a stretch without detail."""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple

from ..layout import NEXT_BATCH
from .arrivals import which_of

if TYPE_CHECKING:
    from ..watch import Watch

AT_REST = -1


class Request(NamedTuple):
    """What there was when next() was called."""

    begin_ns: int
    cpu_ns: int  # AT_REST where no more than the batch is to be counted
    sampler_ns: int
    received: int  # batches torch has received in order, with workers
    ready: int
    stash: int
    outstanding: int
    depth: int
    asked_ns: int  # when torch was asked: what lies before is the probe's own


def counted(watch: Watch, iterator: Any, request: Request, status: int) -> None:
    """It has been answered, at rest: do what totals and --steps need."""
    probe, end_ns = watch.probe, perf_counter_ns()
    del probe.thread.watches[request.depth :]
    watch.ordinal += 1
    if status != NEXT_BATCH:
        return
    batch, _ = which_of(watch, iterator, request.received)
    if request.depth == 0:
        probe.stop.delivered(watch.loader, request.begin_ns)
        if probe.trace is not None:
            probe.trace.waited(request.begin_ns, end_ns)
        probe.writer.passed(watch, batch, request.begin_ns, end_ns)
