"""Making a batch: torch's two fetchers with a stopwatch in them, in workers and in the main process alike.

They stand in for torch's only where torch's source is the one known; of another one the whole is timed, and its collate.
The comprehension and the calls have torch's own shape, so that the traceback of a failing sample has as many lines.
"""

from __future__ import annotations

import functools
from time import perf_counter_ns, thread_time_ns
from typing import TYPE_CHECKING, Any

from .. import profiled, stacks, state
from ..faults import pass_on
from ..known_source import is_known
from ..layout import KIND_OF, UNKNOWN
from ..usage import EVERY_MEMORY, Reading, read_usage, resident_bytes, used_between

if TYPE_CHECKING:
    from types import ModuleType

    from ..state import Probe
    from ..watch import Watch

_FETCH, _BUSY = KIND_OF["fetch"], KIND_OF["busy"]

# torch 2.1 to 2.14
_KNOWN_MAP = frozenset({"c12b49f6652ded59"})
_KNOWN_ITERABLE = frozenset({"57217bfb2dda5a50"})


def is_supported(module: ModuleType) -> bool:
    """Whether torch's module has the two fetchers."""
    return all(
        callable(getattr(getattr(module, name, None), "fetch", None))
        for name in ("_MapDatasetFetcher", "_IterableDatasetFetcher")
    )


def patch(module: Any) -> None:
    """Hook `torch.utils.data._utils.fetch`."""
    _replace(module._MapDatasetFetcher, _fetch_from_map, _KNOWN_MAP)
    _replace(module._IterableDatasetFetcher, _fetch_from_iterable, _KNOWN_ITERABLE)


def _replace(kind: Any, known: Any, digests: frozenset[str]) -> None:
    original = kind.fetch
    if hasattr(original, "__loaderdoctor__"):
        return
    hook = known if is_known(original, digests) else _fetch_whole
    kind.fetch = functools.update_wrapper(hook(original), original)
    kind.fetch.__loaderdoctor__ = True


def _fetch_from_map(original: Any) -> Any:
    def fetch(self: Any, possibly_batched_index: Any) -> Any:
        watch = _begun()
        if watch is None:
            return original(self, possibly_batched_index)
        try:
            taken = watch.taken
            if not self.auto_collation:
                samples = self.dataset[possibly_batched_index]
                watch.taken_whole()
            elif hasattr(self.dataset, "__getitems__") and self.dataset.__getitems__:
                samples = self.dataset.__getitems__(possibly_batched_index)
                watch.taken_together(samples)
            else:
                samples = [taken(self.dataset[index]) for index in possibly_batched_index]
            watch.collating()
            return self.collate_fn(samples)
        finally:
            watch.ended()

    return fetch


def _fetch_from_iterable(original: Any) -> Any:
    def fetch(self: Any, possibly_batched_index: Any) -> Any:
        watch = _begun()
        if watch is None:
            return original(self, possibly_batched_index)
        try:
            taken = watch.taken
            if self.ended:
                raise StopIteration
            if not self.auto_collation:
                samples = next(self.dataset_iter)
                watch.taken_whole()
            else:
                samples = []
                for _ in possibly_batched_index:
                    try:
                        samples.append(taken(next(self.dataset_iter)))
                    except StopIteration:
                        self.ended = True
                        break
                if not samples or (self.drop_last and len(samples) < len(possibly_batched_index)):
                    raise StopIteration
            watch.collating()
            return self.collate_fn(samples)
        finally:
            watch.ended()

    return fetch


def _fetch_whole(original: Any) -> Any:
    """Of a fetcher that we do not know: it gets a collate_fn that starts the stopwatch, for the time of the call."""

    def fetch(self: Any, possibly_batched_index: Any) -> Any:
        watch = _begun()
        if watch is None:
            return original(self, possibly_batched_index)
        collate = self.collate_fn
        try:
            self.collate_fn = watch.collating_by(collate, is_batch=not getattr(self, "auto_collation", True))
            return original(self, possibly_batched_index)
        finally:
            self.collate_fn = collate
            watch.ended()

    return fetch


class _Stopwatch:
    """One fetch."""

    __slots__ = (
        "batched",
        "began_cpu_ns",
        "began_ns",
        "collate_began_ns",
        "last_ns",
        "outermost",
        "position",
        "probe",
        "samples",
        "slowest_ns",
        "usage",
        "watch",
    )

    def __init__(self, probe: Probe, watch: Watch | None) -> None:
        self.began_ns = perf_counter_ns()  # before anything that may cost the thread its place on the core
        self.probe = probe
        self.watch = watch  # None in a worker
        self.batched = self.samples = self.collate_began_ns = 0
        self.slowest_ns = self.position = UNKNOWN
        self.outermost = probe.thread.fetching == 0
        probe.thread.fetching += 1
        if self.outermost:
            profiled.batch_began()
        self.usage: Reading | None = None
        if watch is not None:
            if self.outermost:
                stacks.fetch_began()
            self.usage = read_usage()
        self.began_cpu_ns = thread_time_ns()
        self.last_ns = perf_counter_ns()
        probe.thread.own_ns += self.last_ns - self.began_ns

    def taken(self, sample: Any) -> Any:
        """One more sample is there.  Called once a sample, so it does no more than it must."""
        now_ns = perf_counter_ns()
        took_ns = now_ns - self.last_ns
        self.last_ns = now_ns
        if took_ns > self.slowest_ns:
            self.slowest_ns = took_ns
            self.position = self.samples
        self.samples += 1
        return sample

    def taken_whole(self) -> None:
        """A dataset that makes batches itself gave one, of nobody knows how many samples."""
        self.last_ns = perf_counter_ns()
        self.samples = UNKNOWN

    def taken_together(self, samples: Any) -> None:
        """All samples are there at once: which was the slowest is not known."""
        self.last_ns = perf_counter_ns()
        self.batched = 1
        self.samples = len(samples) if isinstance(samples, (list, tuple)) else UNKNOWN

    def collating(self) -> None:
        """The samples are about to be made a batch."""
        self.collate_began_ns = perf_counter_ns()

    def collating_by(self, collate: Any, *, is_batch: bool) -> Any:
        """A collate_fn that says so itself."""

        def collate_fn(samples: Any) -> Any:
            self.last_ns = self.collate_began_ns = perf_counter_ns()
            self.samples = len(samples) if isinstance(samples, (list, tuple)) and not is_batch else UNKNOWN
            return collate(samples)

        return collate_fn

    def ended(self) -> None:
        """The batch is made, or it failed."""
        try:
            cpu_ns = thread_time_ns() - self.began_cpu_ns
            self._write(perf_counter_ns(), cpu_ns)
        except Exception as error:
            pass_on(error)
            return

    def _write(self, end_ns: int, cpu_ns: int) -> None:
        probe, watch = self.probe, self.watch
        thread, writer = probe.thread, probe.writer
        thread.fetching -= 1
        iterator = batch = worker = UNKNOWN
        if watch is not None:
            iterator, batch = watch.iterator, watch.ordinal
        elif thread.task is not None:
            batch, worker = thread.task.batch, writer.worker
        if watch is not None:
            used = used_between(self.usage, read_usage()) if self.usage is not None else ()
            if self.outermost:
                stacks.fetch_ended(writer)
            memory = resident_bytes() if batch % EVERY_MEMORY == 0 else UNKNOWN
            collected = probe.collections.look() + 1
            writer.put(_BUSY, UNKNOWN, batch, 0, self.began_ns, end_ns, *used, memory, collected)
        if self.outermost:
            profiled.batch_ended(writer, worker)
        collate_ns = end_ns - self.collate_began_ns if self.collate_began_ns else UNKNOWN
        writer.put(
            *(_FETCH, iterator, batch, worker, self.began_ns, end_ns, self.samples, self.last_ns - self.began_ns),
            *(self.slowest_ns, self.position, collate_ns, cpu_ns, self.batched),
        )
        thread.own_ns += perf_counter_ns() - end_ns


def _begun() -> _Stopwatch | None:
    """A stopwatch where this fetch belongs to a loader that is recorded: this process's, or the one it works for."""
    probe = state.probe
    if probe is None or probe.writer.detail.passing:
        return None
    try:
        thread = probe.thread
        if thread.watches:
            return _Stopwatch(probe, thread.watches[-1])
        return _Stopwatch(probe, None) if thread.task is not None else None
    except Exception as error:
        pass_on(error)
        return None
