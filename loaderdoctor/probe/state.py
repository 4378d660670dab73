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
from .own_cost import OwnCost
from .stop import StopRule
from .trace_window import TraceWindow
from .usage import Collections, blocks_written
from .windows import Windows
from .writer import MOST_BYTES, Writer

if TYPE_CHECKING:
    from .injection import Injection
    from .watch import Task, Watch

WEIGHED_EVERY = 17  # steps: a record of ours in fifty, and in step with no accumulation
_NOTHING_TOLD = (-1, -1)
SHORT_LOOP_NS = 1_000_000  # between two batches: nothing that writes a file or collects all garbage is done so soon
_PROCESS, _RANK, _SINCE_START = KIND_OF["process"], KIND_OF["rank"], KIND_OF["since_start"]


class Thread(_local):
    """What this thread is in the middle of."""

    def __init__(self) -> None:
        self.watches: list[Watch] = []  # of the iterators whose next() this thread is inside of, innermost last
        self.task: Task | None = None  # the batch that this thread makes as a worker
        self.fetching = 0  # fetches that it is inside of
        self.got_ns = 0  # when next() last returned
        self.own_ns = 0  # what hooks between two answers of next() have taken themselves
        self.steps = 0  # of the training
        self.asked_cpu_ns = 0  # CPU time that it had used when it last asked for a batch
        self.pinning = False
        self.is_resting = False  # it trains in a stretch without detail
        self.inbox: tuple[int, int, tuple[int, int]] | None = None  # what it last took as a pin thread

    def forget(self) -> None:
        """A fork's first thread is in the middle of nothing, whatever its parent was."""
        self.watches = []
        self.task = None
        self.fetching = 0
        self.pinning = self.is_resting = False
        profiled.forked()


class Probe:
    """The writer, the clock and the counters of one recording."""

    def __init__(
        self,
        run_dir: str,
        steps: int | None,
        seconds: float | None,
        trace_window: int | None = None,
        *,
        windows: tuple[int, int] | None = None,
        injected: str | None = None,
    ) -> None:
        self.run_dir = run_dir
        self.writer = Writer(run_dir)
        if windows is not None:
            self.writer.detail = Windows(MOST_BYTES, *windows, self.writer.control)
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
        self._has_told_rank = self._has_told_none = False
        self.collections = Collections()
        self.own_cost = OwnCost(self.writer)
        self._written = _NOTHING_TOLD  # blocks and full collections, as last recorded

    @property
    def is_worker(self) -> bool:
        """Whether this process makes batches for another one."""
        return self.writer.role != ROLE_MAIN

    def begin(self) -> None:
        """The first loader of this process starts: by now the script has imported torch entirely."""
        if self._begun_pid == os.getpid():
            return
        self._begun_pid = os.getpid()
        self._has_told_rank = self._has_told_none = False  # what a fork's parent told was of the parent
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
        """Which rank this is, where torch.distributed knows by now; else once that it is none, unless the environment says one.

        The environment may be that of a rank which starts a job of its own.
        """
        distributed: Any = sys.modules.get("torch.distributed")
        if self._has_told_rank or self.is_worker:
            return
        try:
            if distributed is not None and distributed.is_available() and distributed.is_initialized():
                self._has_told_rank = True
                rank, size = distributed.get_rank(), distributed.get_world_size()
                self.writer.put(_RANK, rank, size, UNKNOWN, perf_counter_ns())
            elif not self._has_told_none and not {"RANK", "WORLD_SIZE"} <= os.environ.keys():
                self._has_told_none = True
                self.writer.put(_RANK, UNKNOWN, UNKNOWN, UNKNOWN, perf_counter_ns())
        except Exception as error:
            pass_on(error)

    def requested(self, iterator: int, ordinal: int, now_ns: int) -> None:
        """Before a batch is asked for: what the loop has written, and how often its garbage was collected."""
        if now_ns - self.thread.got_ns < SHORT_LOOP_NS:
            return
        self.collections.look()
        written = blocks_written(), self.collections.seen
        if written != self._written:
            self._written = written
            self.writer.put(_SINCE_START, iterator, ordinal, perf_counter_ns(), *written)

    def weigh(self, asking_ns: int, came_ns: int) -> None:
        """A step of the training ends: its hooks took `asking_ns`, what this thread says, and all since `came_ns`."""
        thread = self.thread
        own_ns, thread.own_ns = thread.own_ns + asking_ns, 0
        thread.steps += 1
        if thread.steps % WEIGHED_EVERY == 0:
            now_ns = perf_counter_ns()
            self.own_cost.weighed(own_ns + now_ns - came_ns, WEIGHED_EVERY, now_ns)

    def rests(self) -> bool:
        """Whether this thread trains in a stretch without detail: then its batches are counted, and its device left alone."""
        passing = self.writer.detail.passing
        if passing and not self.thread.is_resting:
            self.clock.rests()
            self._written = _NOTHING_TOLD  # what grows meanwhile is none of the steps' that are told
        self.thread.is_resting = passing
        return passing

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
