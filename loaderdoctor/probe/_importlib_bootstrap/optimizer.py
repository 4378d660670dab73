"""Optimizer steps, by torch's own hook for all optimizers: they tell training from evaluation, and batches from steps."""

from __future__ import annotations

import sys
from _thread import get_native_id
from time import perf_counter_ns
from typing import Any

from .. import state
from ..layout import KIND_OF

_STEP = KIND_OF["optimizer_step"]


def patch() -> None:
    """Register the hook; once a process, torch being imported entirely."""
    if _registered:
        return
    torch: Any = sys.modules["torch"]
    optimizers: Any = sys.modules["torch.optim.optimizer"]
    is_compiling = torch.compiler.is_compiling

    def stepped(optimizer: Any, _args: Any, _kwargs: Any) -> None:
        # Under torch.compile this is a constant, and the hook leaves no trace in the graph.
        if is_compiling():
            return
        _record(optimizer)

    _registered.append(optimizers.register_optimizer_step_post_hook(stepped))


_registered: list[Any] = []  # the handle


def _record(optimizer: Any) -> None:
    probe = state.probe
    if probe is None:
        return
    try:
        probe.writer.put_soon(_STEP, id(optimizer), perf_counter_ns(), get_native_id())
        probe.stop.stepped()
        probe.clock.stepped()
    except Exception:
        return
