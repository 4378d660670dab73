"""The hooks in the process that iterates: where loaders and iterators are built, next(), and what arrives from workers.

torch's own methods run unchanged inside the hooks.  What a hook does of its own is in `try` blocks that let nothing out;
the one exception it ever raises is the SystemExit that --steps and --seconds ask for.
"""

from __future__ import annotations

import functools
import sys
from _thread import get_native_id
from time import perf_counter_ns, thread_time_ns
from typing import TYPE_CHECKING, Any

from .. import state
from ..faults import pass_on
from ..layout import BUILT, KIND_OF, NEXT_BATCH, NEXT_END, NEXT_ERROR, RESET, UNKNOWN
from ..watch import ATTRIBUTE, Watch
from .arrivals import hook_arrivals, ready_of, start_method_of, time_receiving, which_of
from .handing_over import is_due, listen
from .keeping import next_data
from .request import AT_REST, Request, counted
from .stopping import ends_here

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from ..state import Probe

_ITERATOR, _NEXT, _SHUTDOWN = KIND_OF["iterator"], KIND_OF["next"], KIND_OF["shutdown"]
_WORKER_STARTED = KIND_OF["worker_started"]

NEEDED = {
    "DataLoader": ("__init__",),
    "_BaseDataLoaderIter": ("__init__", "__next__", "_next_index"),
    "_MultiProcessingDataLoaderIter": ("__init__", "_reset", "_get_data", "_shutdown_workers"),
}


def is_supported(module: ModuleType) -> bool:
    """Whether torch's module has every class and method that the hooks stand on."""
    return all(
        callable(vars(getattr(module, name, object)).get(method))
        for name, methods in NEEDED.items()
        for method in methods
    )


def patch(module: Any) -> None:
    """Hook `torch.utils.data.dataloader`."""
    patch_loader(module.DataLoader)
    replace(module._BaseDataLoaderIter, "__init__", _iterator_init)
    replace(module._BaseDataLoaderIter, "__next__", _next)
    replace(module._BaseDataLoaderIter, "_next_index", _choosing)
    replace(module._BaseDataLoaderIter, "_reset", _choosing)
    patch_workers_iterator(module._MultiProcessingDataLoaderIter)
    probe = state.probe
    if probe is not None and probe.injection is not None and probe.injection.keeps:
        replace(module._SingleProcessDataLoaderIter, "_next_data", next_data)


def patch_loader(kind: type) -> None:
    """Hook a loader class: torch's, or torchdata's, whose constructor leaves torch's out."""
    replace(kind, "__init__", _loader_init)


def patch_workers_iterator(kind: type) -> None:
    """Hook an iterator class with workers: torch's, or torchdata's, which is no subclass of it."""
    replace(kind, "__init__", _workers_iterator_init)
    replace(kind, "_reset", _reset)
    replace(kind, "_shutdown_workers", _shutdown_workers)
    replace(kind, "_get_data", hook_arrivals)


def replace(owner: type, name: str, hook: Callable[[Any], Any]) -> None:
    """Put `hook(original)` in the place of a method that the class itself defines."""
    original = vars(owner).get(name)
    if original is not None:
        setattr(owner, name, functools.update_wrapper(hook(original), original))


# --- building


def _loader_init(original: Any) -> Any:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it takes the place of one
        probe = state.probe
        if probe is not None and probe.injection is not None:
            args, kwargs = probe.injection.arguments(self, original, args, kwargs)
        original(self, *args, **kwargs)
        if state.probe is not None:
            _guarded(state.probe.loaders.built, self)

    return __init__


def _iterator_init(original: Any) -> Any:
    """Of every iterator.  Those with workers are recorded by `_workers_iterator_init`, around this."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it takes the place of one
        probe = state.probe
        if probe is None:
            original(self, *args, **kwargs)
            return
        watch = _watch(probe, self, args[0] if args else kwargs.get("loader"))
        begin_ns = perf_counter_ns()
        original(self, *args, **kwargs)
        if watch is not None:
            watch.sampler_ns += (
                perf_counter_ns() - begin_ns
            )  # its __iter__ may draw the whole epoch; nothing else is in here
            if not getattr(self, "_num_workers", 0):
                built(watch, BUILT, begin_ns)

    return __init__


def _workers_iterator_init(original: Any) -> Any:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it takes the place of one
        begin_ns = perf_counter_ns()
        original(self, *args, **kwargs)
        watch = _watch_of(self)
        if watch is not None and watch.building:
            built(watch, BUILT, begin_ns)
            _guarded(_workers_started, watch, self, begin_ns)

    return __init__


def _watch(probe: Probe, iterator: Any, loader: Any) -> Watch | None:
    try:
        probe.begin()
        number, epoch = probe.loaders.iterated(loader, probe.writer)
        watch = Watch(probe, next(probe.iterator_numbers), number, epoch)
        iterator.__dict__[ATTRIBUTE] = watch
        if probe.injection is not None:
            probe.injection.begins(iterator, loader)
    except Exception as error:
        pass_on(error)
        return None
    return watch


def _watch_of(iterator: Any) -> Watch | None:
    """The watch of an iterator that was built, or reset, during this recording."""
    watch: Watch | None = iterator.__dict__.get(ATTRIBUTE)
    return watch if watch is not None and watch.probe is state.probe else None


def built(watch: Watch, how: int, begin_ns: int) -> None:
    """Record that an iterator is ready to be asked."""
    watch.building = False
    watch.makers.clear()
    watch.probe.tell_rank()
    end_ns = perf_counter_ns()
    watch.probe.writer.put(
        *(_ITERATOR, watch.iterator, watch.loader, how, begin_ns, end_ns),
        *(get_native_id(), watch.sampler_ns, watch.epoch, _grad_enabled()),
    )


def _workers_started(watch: Watch, iterator: Any, begin_ns: int) -> None:
    writer, end_ns = watch.probe.writer, perf_counter_ns()
    for index, worker in enumerate(iterator._workers):
        method = start_method_of(worker)
        writer.put(_WORKER_STARTED, watch.iterator, index, worker.pid, begin_ns, end_ns, method)


def _reset(original: Any) -> Any:
    """Of a persistent iterator that starts over; its first reset is part of building it."""

    def _reset(self: Any, *args: Any, **kwargs: Any) -> None:
        watch = _watch_of(self)
        if watch is not None and watch.building:
            _guarded(time_receiving, watch, self)  # the first batches may be there before the iterator is
            original(self, *args, **kwargs)
            return
        begin_ns = perf_counter_ns()
        watch = _start_over(self, watch, args[0] if args else kwargs.get("loader"))
        sampler_ns = 0 if watch is None else watch.sampler_ns
        try:
            original(self, *args, **kwargs)
        finally:
            if watch is not None:
                watch.resetting = False
        if watch is not None:
            watch.sampler_ns -= sampler_ns
            built(watch, RESET, begin_ns)

    return _reset


def _start_over(iterator: Any, watch: Watch | None, loader: Any) -> Watch | None:
    """The watch for one more epoch; a new one where the iterator is older than this recording."""
    probe = state.probe
    if probe is None or loader is None:
        return None
    try:
        if watch is None:
            watch = _watch(probe, iterator, loader)
            if watch is not None:
                _workers_started(watch, iterator, perf_counter_ns())
                time_receiving(watch, iterator)
        else:
            watch.loader, watch.epoch = probe.loaders.iterated(loader, probe.writer)
    except Exception as error:
        pass_on(error)
        return None
    if watch is not None:
        watch.resetting = True
    return watch


def _shutdown_workers(original: Any) -> Any:
    # Called by __del__ too, when the names of this module may be gone: hence the defaults.
    def _shutdown_workers(self: Any, clock: Any = perf_counter_ns, watch_of: Any = _watch_of) -> None:
        try:
            watch = None if getattr(self, "_shutdown", True) else watch_of(self)
            begin_ns = clock()
        except Exception as error:
            pass_on(error)
            watch = None
        original(self)
        if watch is not None:
            try:
                watch.probe.writer.put(_SHUTDOWN, watch.iterator, begin_ns, clock())
            except Exception as error:
                pass_on(error)
                return

    return _shutdown_workers


# --- asking for a batch


def _next(original: Any) -> Any:
    return timed_next(original, _watch_of, _requested)


def timed_next(
    original: Any, watch_of: Callable[[Any], Watch | None], requested: Callable[[Watch, Any, int], Request | None]
) -> Any:
    """A __next__ around `original`; where there is no watch, or no request could be noted, the original alone.

    The clock is read first and last: what we do in between is inside next(), and a look at the thread's CPU time can cost it
    its place on the core.
    """

    def __next__(self: Any) -> Any:  # noqa: N807 - it takes the place of one
        begin_ns = perf_counter_ns()
        watch = watch_of(self)
        if watch is None or watch.building:
            return original(self)
        request = requested(watch, self, begin_ns)
        if request is None:
            return original(self)
        why = None if request.depth else ends_here(watch, begin_ns)
        if why is not None:
            _answered(watch, self, request, NEXT_END)
            watch.probe.end(why)
            raise SystemExit(0)
        try:
            batch = original(self)
        except StopIteration:
            _answered(watch, self, request, NEXT_END)
            raise
        except BaseException:
            _answered(watch, self, request, NEXT_ERROR)
            raise
        _answered(watch, self, request, NEXT_BATCH)
        return batch

    _OURS.add(__next__.__code__)
    return __next__


_OURS: set[Any] = set()  # the code of every __next__ of ours


def begun(probe: Probe, watch: Watch, begin_ns: int) -> int:
    """This thread is inside one more next(), since `begin_ns`; how many it was inside of before.

    An exception of a signal's handler can strike where one ends, and leave it behind: then no frame of it is there.
    """
    watches = probe.thread.watches
    if watches and not _is_inside(sys._getframe(3)):
        watches.clear()
    depth = len(watches)
    if not depth and probe.thread.task is None:
        probe.thread.fetching = 0
    watches.append(watch)
    if not depth and not probe.is_worker:
        probe.writer.step(begin_ns)
    return depth


def _is_inside(frame: Any) -> bool:
    while frame is not None:
        if frame.f_code in _OURS:
            return True
        frame = frame.f_back
    return False


def _requested(watch: Watch, iterator: Any, begin_ns: int) -> Request | None:
    depth = None
    probe = watch.probe
    try:
        depth = begun(probe, watch, begin_ns)
        received = ready = stash = outstanding = UNKNOWN
        if not probe.is_worker and probe.rests():
            received = iterator._rcvd_idx if iterator._num_workers else UNKNOWN
            return Request(*(begin_ns, AT_REST, 0, received, UNKNOWN, UNKNOWN, UNKNOWN, depth), perf_counter_ns())
        if iterator._num_workers:
            received, outstanding = iterator._rcvd_idx, iterator._tasks_outstanding
            stash = len(iterator._task_info) - outstanding
            ready = ready_of(iterator)
        if not probe.is_worker:
            probe.clock.requested(watch.iterator, outermost=depth == 0)
            if depth == 0:
                probe.requested(watch.iterator, watch.ordinal, begin_ns)
        cpu_ns = thread_time_ns()
        if depth == 0:
            probe.thread.asked_cpu_ns = cpu_ns
        return Request(
            *(begin_ns, cpu_ns, watch.sampler_ns, received, ready, stash, outstanding, depth), perf_counter_ns()
        )
    except Exception as error:
        del probe.thread.watches[depth or 0 :]
        pass_on(error)
        return None


def _answered(watch: Watch, iterator: Any, request: Request, status: int) -> None:
    came_ns = perf_counter_ns()
    try:
        probe, ordinal = watch.probe, watch.ordinal
        if request.cpu_ns == AT_REST:
            counted(watch, iterator, request, status)
            probe.weigh(request.asked_ns - request.begin_ns, came_ns)
            return
        cpu_ns = thread_time_ns() - request.cpu_ns
        del probe.thread.watches[request.depth :]
        if not probe.is_worker:
            probe.clock.got(watch.iterator, ordinal, status)
        watch.ordinal = ordinal + 1
        batch, worker = which_of(watch, iterator, request.received) if status == NEXT_BATCH else (UNKNOWN, UNKNOWN)
        is_training = request.depth == 0 and status == NEXT_BATCH and not probe.is_worker
        if is_training:
            probe.stop.delivered(watch.loader, request.begin_ns)
            if probe.trace is not None:
                probe.trace.waited(request.begin_ns, perf_counter_ns())
        after = (
            *(status, batch, worker, request.ready, request.stash, request.outstanding),
            *(get_native_id(), request.depth, _grad_enabled(), watch.sampler_ns - request.sampler_ns, cpu_ns),
        )
        put = probe.writer.put
        end_ns = probe.thread.got_ns = perf_counter_ns()
        put(_NEXT, watch.iterator, ordinal, request.begin_ns, end_ns, *after)
        if not is_training:
            return
        if probe.writer.left:
            probe.writer.told(watch.iterator)
        probe.weigh(request.asked_ns - request.begin_ns, came_ns)
        if is_due(ordinal, watch.gave_ns):
            listen(probe.writer, watch, ordinal, sys._getframe(2))
    except Exception as error:
        pass_on(error)


def _grad_enabled() -> int:
    torch: Any = sys.modules["torch"]
    return int(torch.is_grad_enabled())


def _choosing(original: Any) -> Any:
    """Of the methods that ask the sampler and do nothing else: for the next indices, or, where an epoch begins, to begin."""

    def choosing(self: Any, *args: Any, **kwargs: Any) -> Any:
        watch = _watch_of(self)
        if watch is None:
            return original(self, *args, **kwargs)
        begin_ns = perf_counter_ns()
        try:
            return original(self, *args, **kwargs)
        finally:
            watch.sampler_ns += perf_counter_ns() - begin_ns

    return choosing


def _guarded(function: Callable[..., None], *args: Any) -> None:
    try:
        function(*args)
    except Exception as error:
        pass_on(error)
        return
