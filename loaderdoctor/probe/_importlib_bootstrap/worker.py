"""Entering a loader's worker, and what it does between its two queues.

A worker is told by the shape of its process's arguments, so that nothing of ours is ever pickled, and every library that
starts torch's worker loop, or one like it, is covered.  The second argument is left alone: some versions of torch hand the
dataset over in a list that the worker empties.
"""

from __future__ import annotations

import functools
import os
import sys
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from .. import stacks, state
from ..faults import pass_on
from ..layout import KIND_OF, ROLE_WORKER, UNKNOWN
from ..usage import EVERY_MEMORY, Collections, private_bytes, read_usage, resident_bytes, used_between
from ..watch import Task
from .sending import time_sending

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..state import Probe

_READY, _BUSY = KIND_OF["worker_ready"], KIND_OF["busy"]
_INDEX_QUEUE, _DATA_QUEUE, _DONE_EVENT, _WORKER, _WORKERS = 2, 3, 4, 10, 11  # positions in _worker_loop's arguments
_LEAST_ARGUMENTS = 14


def patch(module: Any) -> None:
    """Hook `multiprocessing.process`: every child process comes through BaseProcess._bootstrap."""
    kind = module.BaseProcess
    original = kind._bootstrap
    if hasattr(original, "__loaderdoctor__"):
        return

    @functools.wraps(original)
    def _bootstrap(self: Any, *args: Any, **kwargs: Any) -> Any:
        _arrange(self)
        return original(self, *args, **kwargs)

    _bootstrap.__loaderdoctor__ = True  # type: ignore[attr-defined]  # the mark of what is ours
    kind._bootstrap = _bootstrap


def _arrange(process: Any) -> None:
    """Enter a worker: a forked one when Python has set its queues up again, which undoes what was set before."""
    try:
        probe = state.probe
        if probe is None:
            return
        probe.thread.forget()
        if not _is_worker(process):
            return
        pid, born_ns = os.getpid(), perf_counter_ns()
        if probe.installed_pid == pid:  # spawned: a process of its own, older than this call
            _enter(probe, process._args, probe.installed_ns)
            return
        from multiprocessing.util import register_after_fork

        def enter(entered: Any) -> None:
            if os.getpid() == pid:  # not again in a child of the worker
                _enter(probe, entered._args, born_ns)

        register_after_fork(process, enter)
    except Exception as error:
        pass_on(error)
        return


def _is_worker(process: Any) -> bool:
    """Whether the process was given what torch's worker loop is given."""
    arguments = getattr(process, "_args", ())
    if len(arguments) < _LEAST_ARGUMENTS:
        return False
    queues: Any = sys.modules["multiprocessing.queues"]
    return (
        isinstance(arguments[_INDEX_QUEUE], queues.Queue)
        and isinstance(arguments[_DATA_QUEUE], queues.Queue)
        and hasattr(arguments[_DONE_EVENT], "is_set")
        and type(arguments[_WORKER]) is int
        and type(arguments[_WORKERS]) is int
    )


def _enter(probe: Probe, arguments: tuple[Any, ...], born_ns: int) -> None:
    """This process makes batches from here on."""
    try:
        writer = probe.writer
        writer.role, writer.worker = ROLE_WORKER, arguments[_WORKER]
        between = _BetweenQueues(probe, born_ns)
        index_queue, data_queue = arguments[_INDEX_QUEUE], arguments[_DATA_QUEUE]
        index_queue.get = between.hook_get(index_queue.get)
        data_queue.put = between.hook_put(data_queue.put)
        time_sending(writer, data_queue)
    except Exception as error:
        pass_on(error)
        return


class _BetweenQueues:
    """The worker's loop as its two queues see it."""

    def __init__(self, probe: Probe, born_ns: int) -> None:
        self.probe = probe
        self.worker = probe.writer.worker
        self.born_ns = born_ns
        self.is_ready = False
        self.idle_ns = 0  # since the last batch; torch asks again every few seconds
        self.collections = Collections()

    def hook_get(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Of the index queue's get."""

        def get(*args: Any, **kwargs: Any) -> Any:
            begin_ns = perf_counter_ns()
            if not self.is_ready:
                self._ready(begin_ns)
            try:
                message = original(*args, **kwargs)
            finally:
                self.idle_ns += perf_counter_ns() - begin_ns
            self._got(message)
            return message

        return get

    def hook_put(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Of the data queue's put."""

        def put(message: Any, *args: Any, **kwargs: Any) -> Any:
            put_ns = perf_counter_ns()
            task, self.probe.thread.task = self.probe.thread.task, None
            if task is None:
                return original(message, *args, **kwargs)
            used = self._used(task)
            try:
                return original(message, *args, **kwargs)
            finally:
                self._done(task, put_ns, used)

        return put

    def _ready(self, now_ns: int) -> None:
        self.is_ready = True
        try:
            probe = self.probe
            probe.begin()
            affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else UNKNOWN
            threads = sys.modules["torch"].get_num_threads()
            pid = os.getpid()
            probe.writer.put(_READY, self.worker, pid, self.born_ns, now_ns, affinity, threads, private_bytes())
            self.collections.look()
            stacks.start()
        except Exception as error:
            pass_on(error)
            return

    def _got(self, message: Any) -> None:
        """A batch to make, the end, or something that is no batch: an acknowledgement, a resumption."""
        try:
            thread = self.probe.thread
            thread.task = None
            if message is None:
                stacks.stop(self.probe.writer, self.worker)
            elif type(message) is tuple and type(message[0]) is int:
                got_ns = perf_counter_ns()
                self.probe.writer.step(got_ns)
                thread.fetching = 0  # whatever an exception left behind
                if self._rests():
                    return
                thread.task = Task(message[0], self.idle_ns, got_ns, read_usage())
                self.idle_ns = 0
        except Exception as error:
            pass_on(error)
            return

    def _rests(self) -> bool:
        """Whether this batch is none to be told of; its stacks neither."""
        passing, thread = self.probe.writer.detail.passing, self.probe.thread
        if passing != thread.is_resting:
            thread.is_resting = passing
            (stacks.rest if passing else stacks.go_on)()
        if passing:
            self.idle_ns = 0
        return passing

    def _used(self, task: Task) -> tuple[int, ...]:
        try:
            return used_between(task.usage, read_usage())
        except Exception as error:
            pass_on(error)
            return (UNKNOWN,) * len(task.usage)

    def _done(self, task: Task, put_ns: int, used: tuple[int, ...]) -> None:
        try:
            writer = self.probe.writer
            memory = resident_bytes() if task.batch % EVERY_MEMORY == 0 else UNKNOWN
            collected = self.collections.look() + 1
            writer.put(_BUSY, self.worker, task.batch, task.idle_ns, task.got_ns, put_ns, *used, memory, collected)
            stacks.tick(writer, self.worker)
        except Exception as error:
            pass_on(error)
            return
