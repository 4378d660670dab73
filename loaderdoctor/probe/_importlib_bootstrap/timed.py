"""The wrapper around a function that is a stage."""

from __future__ import annotations

import functools
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ..stage_clock import running

if TYPE_CHECKING:
    from collections.abc import Callable


def timed(function: Callable[..., Any], name_of: Callable[[tuple[Any, ...]], str]) -> Callable[..., Any]:
    """`function`, measured as the stage `name_of(args)` while a batch is being made in the calling thread.

    The wrapper has the globals of the function and needs none of its own, so that torch.jit.script, which reads the
    source of the function through `__wrapped__`, resolves its names as before.
    """
    stages = running

    def stage(*args: Any, **kwargs: Any) -> Any:
        if not stages.depth:
            return function(*args, **kwargs)
        span = stages.enter()
        try:
            return function(*args, **kwargs)
        finally:
            stages.leave(span, name_of(args))

    wrapper = FunctionType(
        stage.__code__, getattr(function, "__globals__", {}), stage.__name__, None, stage.__closure__
    )
    functools.update_wrapper(wrapper, function)
    wrapper.__dict__["__loaderdoctor__"] = True
    return wrapper
