"""What the iterating process takes from its workers' queue: who made it, how long it waited, how long it unpickled."""

from __future__ import annotations

import sys
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from .. import state
from ..faults import pass_on
from ..layout import KIND_OF, STARTS, UNKNOWN
from ..watch import ATTRIBUTE, Watch

if TYPE_CHECKING:
    from collections.abc import Callable

_ARRIVAL = KIND_OF["arrival"]


def hook_arrivals(original: Any) -> Any:
    """Of `_get_data`: the one place through which every version takes a message."""

    def _get_data(self: Any) -> Any:
        watch: Watch | None = self.__dict__.get(ATTRIBUTE)
        if watch is None or watch.probe is not state.probe:
            return original(self)
        watch.received_ns = watch.message_bytes = UNKNOWN
        if watch.probe.writer.detail.passing:
            message = original(self)
            watch.batch = message[0]  # which one it is counts all the same, where batches come out of order
            return message
        begin_ns = perf_counter_ns()
        message = original(self)
        _arrived(watch, self, message, begin_ns)
        return message

    return _get_data


def _arrived(watch: Watch, iterator: Any, message: Any, begin_ns: int) -> None:
    """Record a message with a batch; acknowledgements, and what a reset throws away, are none."""
    end_ns = perf_counter_ns()
    try:
        batch = message[0]
        if type(batch) is not int or watch.resetting or watch.building:
            return
        maker = iterator._task_info.get(batch)  # torch drops it on the way to the script
        worker = maker[0] if maker else UNKNOWN
        watch.batch = batch
        watch.makers[batch] = worker
        watch.probe.writer.put(
            *(_ARRIVAL, watch.iterator, batch, worker, begin_ns, watch.received_ns, end_ns),
            *(iterator._rcvd_idx, int(iterator._pin_memory), watch.message_bytes),
        )
        watch.probe.thread.own_ns += perf_counter_ns() - end_ns
    except Exception as error:
        pass_on(error)
        return


def time_receiving(watch: Watch, iterator: Any) -> None:
    """Learn when a message's bytes were there, so that waiting and unpickling are told apart.

    The queue reads this attribute anew at each get.  It is no part of what is pickled, and a fork sets it back.
    """
    queue = iterator._worker_result_queue
    watch.probe.queues[id(queue)] = watch.iterator
    if iterator._pin_memory:  # the pin thread receives; its times are in its own records
        return
    receive: Callable[..., bytes] = queue._recv_bytes

    def _recv_bytes(*args: Any, **kwargs: Any) -> bytes:
        message = receive(*args, **kwargs)
        watch.received_ns, watch.message_bytes = perf_counter_ns(), len(message)
        return message

    queue._recv_bytes = _recv_bytes


def start_method_of(worker: Any) -> int:
    """How a worker process was started, as an index into layout.STARTS."""
    multiprocessing: Any = sys.modules["multiprocessing"]
    method = getattr(worker, "_start_method", None) or multiprocessing.get_start_method(allow_none=True)
    return STARTS.index(method) if method in STARTS else UNKNOWN


def which_of(watch: Watch, iterator: Any, received: int) -> tuple[int, int]:
    """(batch, worker) of the batch that next() has just returned; `received` are those in order before it."""
    if received == UNKNOWN:
        return watch.ordinal - 1, UNKNOWN
    # Out of order it is that of the last message; `_rcvd_idx` then moves past batches that were returned before.
    batch = iterator._rcvd_idx - 1 if getattr(iterator, "_in_order", True) else watch.batch
    return batch, watch.makers.pop(batch, UNKNOWN)


def ready_of(iterator: Any) -> int:
    """Batches that lie ready for an iterator with workers."""
    try:
        return int(iterator._data_queue.qsize())
    except NotImplementedError:  # macOS has no such count
        return UNKNOWN
