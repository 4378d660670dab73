"""Where the host waits for the device, and a stream for another: .item() and the like, synchronize, wait_stream."""

from __future__ import annotations

import functools
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from ..device.hearing import hearing
from .heard import Heard, hear

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..device.clock import DeviceClock

_READS = ("item", "tolist", "cpu", "__float__", "__int__", "__bool__")


def wrap_tensor(torch: Any) -> None:
    """The methods of torch.Tensor that need a value on the host; once a process."""
    for name in _READS:
        hear(torch.Tensor, name, functools.partial(_reading, torch))


def wrap_device(torch: Any, kind: str) -> None:
    """What the device's module and its streams and events have; once a process and kind."""
    module = torch.get_device_module(kind)
    stream, event = getattr(module, "Stream", None), getattr(module, "Event", None)
    for owner in (module, getattr(torch, "accelerator", None), stream, event):
        _replace(owner, "synchronize", functools.partial(_waiting, torch))
    for owner, name, waiter in ((stream, "wait_stream", 0), (stream, "wait_event", 0), (event, "wait", 1)):
        _replace(owner, name, functools.partial(_holding, torch, waiter))


def _replace(owner: Any, name: str, wrap: Callable[[Any], Any]) -> None:
    original = getattr(owner, name, None)
    if original is None:
        return
    try:
        setattr(owner, name, Heard(owner, original, wrap(original)) if isinstance(owner, type) else wrap(original))
    except (AttributeError, TypeError):
        return  # a class written in C: its waits stay part of the compute span


def _reading(torch: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling():
            return original(self, *args, **kwargs)
        clock = hearing.clock
        if clock is None or self.device.type == "cpu":
            return original(self, *args, **kwargs)
        return timed(clock, original, (self, *args), kwargs)

    return method


def _waiting(torch: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def synchronize(*args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling():
            return original(*args, **kwargs)
        clock = hearing.clock
        if clock is None:
            return original(*args, **kwargs)
        return timed(clock, original, args, kwargs)

    return synchronize


def timed(clock: DeviceClock, original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call `original(*args, **kwargs)`, in which the host waits for the device."""
    hearing.clock = None
    began_ns = perf_counter_ns()
    try:
        return original(*args, **kwargs)
    finally:
        hearing.clock = clock if clock.armed else None
        clock.synced(perf_counter_ns() - began_ns)


def _holding(torch: Any, waiter: int, original: Callable[..., Any]) -> Callable[..., Any]:
    """A method after which a stream waits: its argument number `waiter`, or the thread's current one where it has none."""

    @functools.wraps(original)
    def method(*args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling():
            return original(*args, **kwargs)
        clock = hearing.clock
        if clock is None:
            return original(*args, **kwargs)
        lane = clock.hold(args[waiter] if len(args) > waiter else kwargs.get("stream"))
        hearing.clock = None
        try:
            return original(*args, **kwargs)
        finally:
            hearing.clock = clock if clock.armed else None
            if lane is not None:
                clock.released(lane)

    return method
