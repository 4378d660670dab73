"""Copying batches into pinned memory: in a thread of its own with workers, inside next() without."""

from __future__ import annotations

import functools
from time import perf_counter_ns, thread_time_ns
from typing import Any

from .. import state
from ..faults import pass_on
from ..layout import KIND_OF, UNKNOWN
from ..payload import payload

_PIN = KIND_OF["pin"]


def is_supported(module: Any) -> bool:
    """Whether torch's module has the two functions."""
    return callable(getattr(module, "pin_memory", None)) and callable(getattr(module, "_pin_memory_loop", None))


def patch(module: Any) -> None:
    """Hook `torch.utils.data._utils.pin_memory`."""
    if not hasattr(module.pin_memory, "__loaderdoctor__"):
        module.pin_memory = _pin_memory(module.pin_memory)
        module._pin_memory_loop = _pin_memory_loop(module._pin_memory_loop)


class _Inbox:
    """The pin thread's incoming queue, as that thread alone sees it; remembers which batch it took last."""

    def __init__(self, probe: state.Probe, in_queue: Any, out_queue: Any) -> None:
        self._thread = probe.thread
        self._writer = probe.writer
        self._in_queue = in_queue
        self._out_queue = out_queue

    def get(self, *args: Any, **kwargs: Any) -> Any:
        """As the queue's."""
        message = self._in_queue.get(*args, **kwargs)
        if type(message) is tuple and message and type(message[0]) is int:
            self._thread.inbox = (
                None if self._writer.detail.passing else (message[0], id(self._in_queue), self._waiting())
            )
        return message

    def _waiting(self) -> tuple[int, int]:
        """(batches not pinned yet, batches pinned and not taken)."""
        try:
            return self._in_queue.qsize(), self._out_queue.qsize()
        except NotImplementedError:  # macOS has no such count
            return UNKNOWN, UNKNOWN

    def __getattr__(self, name: str) -> Any:
        return getattr(self._in_queue, name)


def _pin_memory_loop(original: Any) -> Any:
    @functools.wraps(original)
    def loop(in_queue: Any, out_queue: Any, *args: Any, **kwargs: Any) -> None:
        probe = state.probe
        if probe is not None:
            in_queue = _Inbox(probe, in_queue, out_queue)
        original(in_queue, out_queue, *args, **kwargs)

    return loop


def _pin_memory(original: Any) -> Any:
    """It calls itself by its own name for the parts of a batch: only the outermost call is a batch."""

    @functools.wraps(original)
    def pin_memory(data: Any, *args: Any, **kwargs: Any) -> Any:
        probe = state.probe
        if probe is None or probe.writer.detail.passing:
            return original(data, *args, **kwargs)
        if probe.thread.pinning or not (probe.thread.inbox or probe.thread.watches):
            return original(data, *args, **kwargs)
        thread = probe.thread
        thread.pinning = True
        begin_ns, begin_cpu_ns = perf_counter_ns(), thread_time_ns()
        try:
            return original(data, *args, **kwargs)
        finally:
            thread.pinning = False
            _pinned(probe, data, begin_ns, thread_time_ns() - begin_cpu_ns)

    pin_memory.__loaderdoctor__ = True  # type: ignore[attr-defined]  # the mark of what is ours
    return pin_memory


def _pinned(probe: state.Probe, data: Any, begin_ns: int, cpu_ns: int) -> None:
    end_ns = perf_counter_ns()
    try:
        thread = probe.thread
        inbox, thread.inbox = thread.inbox, None
        if inbox is not None:
            batch, queue, waiting = inbox
            iterator = probe.queues.get(queue, UNKNOWN)
        else:
            watch = thread.watches[-1]
            iterator, batch, waiting = watch.iterator, watch.ordinal, (UNKNOWN, UNKNOWN)
        probe.writer.put(_PIN, iterator, batch, begin_ns, end_ns, cpu_ns, *payload(data), *waiting)
    except Exception as error:
        pass_on(error)
        return
