"""The one probe of a process: what its hooks share."""

from __future__ import annotations

import os
import sys
from _thread import _local
from itertools import count
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from . import profiled, stacks
from .clock import HostClock
from .faults import pass_on
from .layout import KIND_OF, ROLE_MAIN, UNKNOWN
from .loaders import Loaders
from .stop import StopRule
from .trace_window import TraceWindow
from .usage import Collections, blocks_written
from .writer import Writer

if TYPE_CHECKING:
    from .injection import Injection
    from .watch import Task, Watch

_PROCESS, _RANK, _SINCE_START = KIND_OF["process"], KIND_OF["rank"], KIND_OF["since_start"]


class Thread(_local):
    """What this thread is in the middle of."""

    def __init__(self) -> None:
        self.watches: list[Watch] = []  # of the iterators whose next() this thread is inside of, innermost last
        self.task: Task | None = None  # the batch that this thread makes as a worker
        self.fetching = 0  # fetches that it is inside of
        self.asked_cpu_ns = 0  # CPU time that it had used when it last asked for a batch
        self.pinning = False
        self.inbox: tuple[int, int, tuple[int, int]] | None = None  # what it last took as a pin thread

    def forget(self) -> None:
        """A fork's first thread is in the middle of nothing, whatever its parent was."""
        self.watches = []
        self.task = None
        self.fetching = 0
        self.pinning = False
        profiled.forked()


class Probe:
    """The writer, the clock and the counters of one recording."""

    def __init__(
        self,
        run_dir: str,
        steps: int | None,
        seconds: float | None,
        trace_window: int | None = None,
        injected: str | None = None,
    ) -> None:
        self.run_dir = run_dir
        self.writer = Writer(run_dir)
        self.clock: HostClock = HostClock()
        self.thread = Thread()
        self.loaders = Loaders()
        self.injection = None if injected is None else _injection(injected)
        self.stop = StopRule(steps, seconds, self.writer.control)
        self.trace = None if trace_window is None else TraceWindow(self.writer, trace_window)
        self.iterator_numbers = count(1)
        self.queues: dict[int, int] = {}  # id of a result queue -> iterator, for the pin thread
        self.installed_ns = perf_counter_ns()
        self.installed_pid = os.getpid()
        self._begun_pid: int | None = None
        self._has_told_rank = False
        self.collections = Collections()
        self._written = (-1, 0)  # blocks and full collections, as last recorded

    @property
    def is_worker(self) -> bool:
        """Whether this process makes batches for another one."""
        return self.writer.role != ROLE_MAIN

    def begin(self) -> None:
        """The first loader of this process starts: by now the script has imported torch entirely."""
        if self._begun_pid == os.getpid():
            return
        self._begun_pid = os.getpid()
        from .about import about

        self.writer.put(_PROCESS, perf_counter_ns(), self.writer.text(about()))
        if not self.is_worker:
            for begin in (_begin_steps, self._begin_device):
                try:
                    begin()
                except Exception as error:
                    pass_on(error)
                    self.note("steps-unmeasured", "Optimizer steps or the device could not be watched in this process.")

    def tell_rank(self) -> None:
        """Which rank this is, where torch.distributed knows by now and the environment does not; once."""
        distributed: Any = sys.modules.get("torch.distributed")
        if self._has_told_rank or self.is_worker or distributed is None or "RANK" in os.environ:
            return
        try:
            if distributed.is_available() and distributed.is_initialized():
                self._has_told_rank = True
                rank, size = distributed.get_rank(), distributed.get_world_size()
                self.writer.put(_RANK, rank, size, UNKNOWN, perf_counter_ns())
        except Exception as error:
            pass_on(error)

    def requested(self, iterator: int, ordinal: int) -> None:
        """Before a batch is asked for: what the loop has written, and how often its garbage was collected."""
        self.collections.look()
        written = blocks_written(), self.collections.seen
        if written != self._written:
            self._written = written
            self.writer.put(_SINCE_START, iterator, ordinal, perf_counter_ns(), *written)

    def note(self, slug: str, sentence: str) -> None:
        """As `Writer.note`."""
        self.writer.note(slug, sentence)

    def end(self, why: int) -> None:
        """Recording ends in this process."""
        if self.writer.is_open:
            if self.trace is not None:
                self.trace.close()
            self.clock.finished()
            stacks.stop(self.writer, self.writer.worker)
        self.writer.end(why)

    def _begin_device(self) -> None:
        """Measure on the device's own clock where there is a device."""
        if type(self.clock) is HostClock:  # a fork that trains keeps its parent's
            from . import device

            self.clock = device.make_clock(self.writer)


def _injection(injected: str) -> Injection | None:
    from .injection import injection_of

    return injection_of(injected)


def _begin_steps() -> None:
    """Hook what happens between two batches; only a process that trains has any."""
    from ._importlib_bootstrap import optimizer

    optimizer.patch()


probe: Probe | None = None
