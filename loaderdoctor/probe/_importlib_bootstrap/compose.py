"""torchvision's containers of transforms, with each transform a stage; only where their source is the one known."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..known_source import is_known
from ..stage_clock import running

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

# torchvision 0.19 to 0.29
_V1 = frozenset({"edcd4986977e20ad"})
_V2 = frozenset({"5b6ce32c84048d7e"})


def wrap_v1(module: ModuleType) -> None:
    """`torchvision.transforms.Compose`."""
    original = module.Compose.__call__
    if not is_known(original, _V1):
        return

    @functools.wraps(original)
    def __call__(self: Any, img: Any) -> Any:  # noqa: N807 - it takes the place of a method of that name
        for transform in self.transforms:
            img = _run(transform, (img,))
        return img

    module.Compose.__call__ = __call__


def wrap_v2(module: ModuleType) -> None:
    """`torchvision.transforms.v2.Compose`."""
    original = module.Compose.forward
    if not is_known(original, _V2):
        return

    @functools.wraps(original)
    def forward(self: Any, *inputs: Any) -> Any:
        several = len(inputs) > 1
        output: Any = inputs
        for transform in self.transforms:
            output = _run(transform, inputs)
            inputs = output if several else (output,)
        return output

    module.Compose.forward = forward


def _run(transform: Callable[..., Any], inputs: tuple[Any, ...]) -> Any:
    if not running.depth:
        return transform(*inputs)
    span = running.enter()
    try:
        return transform(*inputs)
    finally:
        running.leave(span, f"transform:{getattr(transform, '__name__', type(transform).__name__)}")
