"""Iterators that are not torch's (DALI, FFCV, grain): only the wait in their next() is timed."""

from __future__ import annotations

import json
import sys
from time import perf_counter_ns, thread_time_ns
from typing import TYPE_CHECKING, Any

from .. import state
from ..faults import pass_on
from ..foreign_loaders import CLASSES
from ..layout import BUILT, KIND_OF, UNKNOWN
from ..site import site_of
from ..watch import ATTRIBUTE, Watch
from .iteration import begun, built, replace, timed_next
from .request import AT_REST, Request

if TYPE_CHECKING:
    from types import ModuleType

_LOADER = KIND_OF["loader"]


def patch(module: ModuleType) -> None:
    """Hook the iterators of one of the libraries."""
    for name in CLASSES[module.__name__]:
        kind = getattr(module, name, None)
        if isinstance(kind, type):
            replace(kind, "__next__", lambda original: timed_next(original, _watch_of, _requested))


def _watch_of(iterator: Any) -> Watch | None:
    """The iterator's watch, made at its first next(); none in a worker, where it is part of making a batch."""
    probe = state.probe
    if probe is None or probe.is_worker:
        return None
    try:
        watch: Watch | None = iterator.__dict__.get(ATTRIBUTE)
        if watch is None or watch.probe is not probe:
            watch = iterator.__dict__[ATTRIBUTE] = _begin(probe, iterator)
    except Exception as error:
        pass_on(error, asked_script=True)
        return None
    return watch


def _begin(probe: state.Probe, iterator: Any) -> Watch:
    now_ns, writer = perf_counter_ns(), probe.writer
    probe.begin()
    loader = probe.loaders.new_number()
    kind = type(iterator)
    about = {
        "loader_type": f"{kind.__module__}.{kind.__qualname__}",
        "torch_loader": False,
        "batch_size": getattr(iterator, "batch_size", None),
    }
    site = site_of(sys._getframe(3), iterator)
    writer.put(_LOADER, loader, now_ns, writer.text(site), writer.text(json.dumps(about, default=str)))
    watch = Watch(probe, next(probe.iterator_numbers), loader, 0)
    built(watch, BUILT, now_ns)
    return watch


def _requested(watch: Watch, _iterator: Any, begin_ns: int) -> Request | None:
    probe = watch.probe
    depth = None
    try:
        depth = begun(probe, watch, begin_ns)
        if probe.rests():
            return Request(*(begin_ns, AT_REST, 0, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, depth), perf_counter_ns())
        probe.clock.requested(watch.iterator, outermost=depth == 0)
        cpu_ns = thread_time_ns()
        return Request(begin_ns, cpu_ns, 0, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, depth, perf_counter_ns())
    except Exception as error:
        del probe.thread.watches[depth or 0 :]
        pass_on(error)
        return None
