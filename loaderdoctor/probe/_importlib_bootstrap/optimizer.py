"""Optimizer steps, by torch's own hook for all optimizers: they tell training from evaluation, and batches from steps."""

from __future__ import annotations

import sys
from _thread import get_native_id
from time import perf_counter_ns, thread_time_ns
from typing import TYPE_CHECKING, Any

from .. import state
from ..faults import pass_on
from ..layout import KIND_OF
from ..stop import in_main_thread

if TYPE_CHECKING:
    from ..state import Probe

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
    began_ns = perf_counter_ns()
    try:
        probe.stop.stepped()
        if not probe.rests():
            used_ns = thread_time_ns(), probe.thread.asked_cpu_ns
            probe.writer.put(_STEP, id(optimizer), began_ns, get_native_id(), *used_ns)
            probe.clock.stepped()
        why = probe.stop.overdue
        probe.thread.own_ns += perf_counter_ns() - began_ns
        ends = why is not None and in_main_thread() and not probe.writer.control.ended and _may_end(probe, why)
    except Exception as error:
        pass_on(error)
        return
    if ends:
        raise SystemExit(0)


def _may_end(probe: Probe, why: int) -> bool:
    """Whether --steps or --seconds can end the script here, where it takes its batches in another thread.

    As by a sys.exit(0) of its own: Python then waits for threads that are no daemons, and one that nobody takes batches
    from any more may wait forever.
    """
    probe.stop.overdue = None
    threading: Any = sys.modules["threading"]
    if not all(thread.daemon for thread in threading.enumerate() if thread is not threading.current_thread()):
        probe.note(
            "stop-not-possible", "--steps or --seconds could not end the script: a thread of its own would wait on."
        )
        probe.stop.steps = probe.stop.seconds = None
        return False
    probe.end(why)
    return True
