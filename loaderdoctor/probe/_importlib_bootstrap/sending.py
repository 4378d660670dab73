"""Sending a batch: a worker pickles in the thread that feeds its queue, while it already makes the next batch."""

from __future__ import annotations

import sys
import threading
from time import perf_counter_ns, thread_time_ns
from typing import TYPE_CHECKING, Any

from ..content import content
from ..faults import pass_on
from ..layout import KIND_OF, UNKNOWN
from ..payload import payload

if TYPE_CHECKING:
    from ..writer import Writer

_SEND = KIND_OF["send"]


class _Pickled(threading.local):
    """What this thread pickled last, until it is sent."""

    times: tuple[int, int, int, int, int, int, int, int] | None = (
        None  # batch begin wall cpu bytes tensors payload content
    )


def time_sending(writer: Writer, data_queue: Any) -> None:
    """Time the pickling and the writing of this process's batches; other queues of its are not told of."""
    queues: Any = sys.modules["multiprocessing.queues"]
    pickled = _Pickled()
    queues._ForkingPickler = _timed(queues._ForkingPickler, pickled, writer)
    send = data_queue._send_bytes

    def _send_bytes(message: Any) -> None:
        try:
            send(message)
        finally:
            times, pickled.times = pickled.times, None
            if times is not None:
                batch, begin_ns, *others = times
                writer.put(_SEND, writer.worker, batch, begin_ns, perf_counter_ns(), *others)

    data_queue._send_bytes = _send_bytes


def _timed(original: Any, pickled: _Pickled, writer: Writer) -> type:
    """A subclass of the pickler, as the queues take one from their module, that remembers how long it took."""

    class ForkingPickler(original):  # type: ignore[misc]  # its base is only known here
        @classmethod
        def dumps(cls, obj: Any, protocol: Any = None) -> Any:
            if writer.detail.passing:
                pickled.times = None
                return original.dumps(obj, protocol)
            begin_ns, begin_cpu_ns = perf_counter_ns(), thread_time_ns()
            message = original.dumps(obj, protocol)
            pickle_ns, cpu_ns = perf_counter_ns() - begin_ns, thread_time_ns() - begin_cpu_ns
            batch = obj[0] if type(obj) is tuple and obj and type(obj[0]) is int else UNKNOWN
            if batch == UNKNOWN:
                pickled.times = None
            else:
                pickled.times = (
                    batch,
                    begin_ns,
                    pickle_ns,
                    cpu_ns,
                    len(message),
                    *_payload(obj),
                    content(batch, obj[1]),
                )
            return message

    ForkingPickler.__qualname__ = original.__qualname__
    ForkingPickler.__module__ = original.__module__
    return ForkingPickler


def _payload(message: tuple[Any, ...]) -> tuple[int, int]:
    try:
        return payload(message[1])
    except Exception as error:
        pass_on(error, asked_script=True)
        return UNKNOWN, UNKNOWN
