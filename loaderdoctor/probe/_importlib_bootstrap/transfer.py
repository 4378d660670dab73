"""Tensor.to, .cuda and .copy_, with the copies between host and device among their calls measured.

torch.compile traces through to the original: its guard comes first and is a constant to it.  Where a torch function mode
or a tensor subclass makes C++ look the method up and call it a second time, only the first call counts.
"""

from __future__ import annotations

import functools
import sys
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from ..device.copies import Copy
from ..device.hearing import hearing
from ..faults import pass_on
from .heard import hear
from .waiting import timed

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from ..device.clock import DeviceClock

    EndsOf = Callable[..., tuple[Any, Any]]

SMALL_BYTES = 4096  # asking a tensor whether it is pinned costs 1 us, and batches of small ones have hundreds
SMALL_ASKED_EVERY = 16
_MODULE_MOVES = "torch/nn/modules/module.py"  # Module.to moves parameters and buffers one by one, which are no batch
_NOWHERE = "", "", None


def wrap(torch: ModuleType) -> None:
    """Put the hooks on torch.Tensor; once a process."""
    ends: dict[str, EndsOf] = {
        "to": lambda self, args, kwargs: (self, _asked_device(args, kwargs)),
        "cuda": lambda self, args, kwargs: (self, _cuda_device(args, kwargs)),
        "copy_": lambda self, args, kwargs: (_source(args, kwargs), self),
    }
    for name, ends_of in ends.items():
        hear(torch.Tensor, name, functools.partial(_hooked, torch, ends_of))


def _hooked(torch: Any, ends_of: EndsOf, original: Callable[..., Any]) -> Callable[..., Any]:
    """`original`, a method; `ends_of` tells from its arguments what tensor is copied, and where to."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling():
            return original(self, *args, **kwargs)
        clock = hearing.clock
        if clock is None:
            return original(self, *args, **kwargs)
        source, target = ends_of(self, args, kwargs)
        from_kind, to_kind, index = _route(clock, source, target)
        if from_kind == to_kind:
            return original(self, *args, **kwargs)
        blocking = not _is_non_blocking(args, kwargs)
        if from_kind != "cpu":
            return timed(clock, original, (self, *args), kwargs) if blocking else original(self, *args, **kwargs)
        lane = clock.copying(index)
        hearing.clock = copy = None
        began_ns = perf_counter_ns()
        try:
            result = original(self, *args, **kwargs)
            if lane is not None:
                copy = _describe(source, result, blocking, perf_counter_ns() - began_ns)
        finally:
            hearing.clock = clock if clock.armed else None
            if lane is not None:
                clock.copied(lane, copy)
        return result

    return method


def _describe(source: Any, result: Any, blocking: bool, host_ns: int) -> Copy | None:
    """What was copied; None where it was part of a model, or of nothing that we know."""
    try:
        if sys._getframe(2).f_code.co_filename.endswith(_MODULE_MOVES):
            return None
        size = source.nbytes
        converted = source.dtype != result.dtype or not source.is_contiguous()
        return Copy(size, _is_pinned(source, size), blocking, converted, host_ns)
    except Exception as error:
        pass_on(error, asked_script=True)
        return None


def _is_pinned(tensor: Any, size: int) -> bool:
    """Asked of the tensor itself; small ones are taken to be as the one before them, most of the time."""
    if size < SMALL_BYTES and hearing.unasked:
        hearing.unasked -= 1
        return hearing.pinned
    hearing.unasked = SMALL_ASKED_EVERY
    hearing.pinned = pinned = bool(tensor.is_pinned())
    return pinned


def _route(clock: DeviceClock, source: Any, target: Any) -> tuple[str, str, int | None]:
    """Kinds of device and the target's number; twice the same where it is nothing of ours."""
    try:
        from_kind = source.device.type
        to_kind, index = _named(target) if isinstance(target, str) else _place(clock, target)
    except Exception as error:
        pass_on(error, asked_script=True)
        return _NOWHERE
    ours = clock.kind
    if (from_kind == "cpu" and to_kind == ours) or (from_kind == ours and to_kind == "cpu"):
        return from_kind, to_kind, index
    return _NOWHERE


@functools.lru_cache(64)
def _named(target: str) -> tuple[str, int | None]:
    kind, _, number = target.partition(":")
    return kind, int(number) if number else None


def _place(clock: DeviceClock, target: Any) -> tuple[str, int | None]:
    """Kind and number of a device given as torch.device, tensor or number."""
    if isinstance(target, int):
        return clock.kind, target
    device = getattr(target, "device", target)
    return getattr(device, "type", ""), getattr(device, "index", None)


def _asked_device(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[0] if args else kwargs.get("device", kwargs.get("other"))


def _cuda_device(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    device = _asked_device(args, kwargs)
    return "cuda" if device is None else device


def _source(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[0] if args else kwargs.get("src")


def _is_non_blocking(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """In each form of the three methods the first flag given by position is `non_blocking`."""
    given = kwargs.get("non_blocking")
    if given is not None:
        return bool(given)
    for argument in args:
        if argument is True or argument is False:
            return bool(argument)
    return False
