"""What a change of settings costs or saves outside the samples' own work: starts, hand-over, copies, memory.

Costs that were recorded are used as recorded.  The constants stand in where a run could not show them, because it had
no workers or copied from ordinary memory; they were measured with torch 2.13 on Linux.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from loaderdoctor.predict.change import REBUILT, SHARDS
from loaderdoctor.values import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loaderdoctor.analyse.signals import LoaderSettings, Workload

FORK_S = 0.008  # one after the other in the main process: 7 to 8 ms a worker from 1 to 8 workers
FORK_BOOT_S = 0.015  # from the last fork to the first batch of a trivial sample: 3 to 34 ms, workers side by side
SPAWN_S = 0.02  # starting an interpreter and pickling a small dataset to it, one worker after the other
SPAWN_BOOT_S = 2.2  # each worker imports torch: 2.1 to 2.6 s, side by side while there are cores
STOP_S = 0.004  # joining the workers at the end of an epoch, of any number
STOP_WORKER_S = 0.0015  # and of each: 5 ms for 1 worker, 16 ms for 8
SPAWN_STOP_S = 0.5  # an interpreter that imported torch itself takes it down again: 0.50 to 0.61 s, side by side while there are cores
SEND_S = 0.0005  # pickling and a pipe: a batch of 40 bytes takes 0.9 ms from worker to consumer
RECEIVE_S = 0.0005  # of which the consumer's own part, a wake-up included; nearly the same up to 4 MB
SEND_S_PER_BYTE = 1.5e-9  # fresh shared memory is paged in while it is filled: 1.35 ns at 4 MB, 1.9 ns at 16 MB
DEFAULT_PREFETCH = 2  # torch's own, where there are workers
FORKED_BYTES = 10 << 20  # private memory of a forked worker: 6 to 10 MB, the rest is shared with its parent
SPAWNED_BYTES = 250 << 20  # of one that imports torch itself
PINNED_BYTES_PER_S = 6e9  # the slowest pinned copies in recorded traces: V100 on PCIe 3, 5.4 to 11.7 GB/s
PINNED_AT_LEAST = 1.5  # times faster than from ordinary memory, the smallest ratio seen in the same traces
PAGEABLE_AT_MOST = 4.0  # times slower than pinned, the largest seen


@dataclass(frozen=True)
class Knobs:
    """The settings that the model knows, resolved as torch resolves them."""

    workers: int
    prefetch: int
    pinned: bool
    persistent: bool
    start: str | None  # how workers start
    in_order: bool

    @classmethod
    def of(cls, recorded: LoaderSettings, changes: Mapping[str, Any]) -> Knobs:
        """The recorded settings with `changes` on top; a change of None takes torch's default."""
        workers = int(changes.get("num_workers", recorded.num_workers))
        prefetch = changes.get("prefetch_factor", recorded.prefetch_factor) or DEFAULT_PREFETCH
        return cls(
            workers=workers,
            prefetch=int(prefetch),
            pinned=bool(changes.get("pin_memory", recorded.pin_memory)),
            persistent=workers > 0 and bool(changes.get("persistent_workers", recorded.persistent_workers)),
            start=changes.get("multiprocessing_context", recorded.start_method),
            in_order=changes.get("in_order", recorded.in_order) is not False,
        )

    @property
    def spawned(self) -> bool:
        """Whether each worker imports everything anew."""
        return self.start in ("spawn", "forkserver")


def knobs_of(workload: Workload, changes: Mapping[str, Any]) -> Knobs:
    """As the workload has them: of a loader that is built anew each epoch no worker stays, whatever its settings say.

    A stream that only some of the workers get anything of has no more of them.
    """
    knobs = Knobs.of(workload.settings, changes)
    if workload.streams is not None and SHARDS not in workload.lifted:
        knobs = replace(knobs, workers=min(knobs.workers, workload.streams))
    if workload.rebuilt:
        knobs = replace(knobs, persistent=knobs.workers > 0 and REBUILT in workload.lifted)
    return knobs


def turnover_s(workload: Workload, knobs: Knobs, epoch: int) -> float:
    """What starting the workers of this epoch, and stopping those of the last, adds to the gap before it."""
    if knobs.workers == 0 or (knobs.persistent and epoch > 0):
        return 0.0
    recorded = workload.settings.num_workers > 0
    at_once = max(1.0, knobs.workers / workload.cores)
    if knobs.spawned:
        boot_s = workload.worker_start_s if recorded else SPAWN_BOOT_S
        start_s = SPAWN_S * knobs.workers + boot_s * at_once
    else:
        start_s = FORK_S * knobs.workers + (workload.worker_start_s if recorded else FORK_BOOT_S)
    return start_s if knobs.persistent or epoch == 0 else start_s + _stop_s(knobs, at_once)


def _stop_s(knobs: Knobs, at_once: float) -> float:
    """A fork server's children leave without taking their interpreter down."""
    taken_down_s = SPAWN_STOP_S * at_once if knobs.start == "spawn" else 0.0
    return STOP_S + STOP_WORKER_S * knobs.workers + taken_down_s


def hand_over_s(workload: Workload, sent_s: float, received_s: float) -> tuple[float, float]:
    """Seconds of CPU to send and to receive one batch between processes."""
    if workload.settings.num_workers > 0:
        return sent_s, received_s
    return SEND_S + SEND_S_PER_BYTE * (workload.batch_bytes or 0), RECEIVE_S


def copy_s(workload: Workload, knobs: Knobs) -> Interval:
    """Exposed host-to-device copy a step, where pinning differs from the run: from a free copy to a slow one."""
    now_s = workload.copy_s
    if knobs.pinned == workload.settings.pin_memory or now_s == 0:
        return Interval(now_s, now_s, now_s)
    if not knobs.pinned:
        return Interval(now_s, now_s * PINNED_AT_LEAST, now_s * PAGEABLE_AT_MOST)
    if workload.copy_pinned_s is not None:
        return Interval(workload.copy_pinned_s, workload.copy_pinned_s, workload.copy_pinned_s)
    most_s = now_s / PINNED_AT_LEAST
    best_s = min(most_s, workload.batch_bytes / PINNED_BYTES_PER_S) if workload.batch_bytes else most_s / 2
    return Interval(0.0, best_s, most_s)


def run_ahead(workload: Workload, knobs: Knobs) -> int | None:
    """Steps the host may be ahead of the device; copies from ordinary memory hold it back, pinned ones need not."""
    if knobs.pinned == workload.settings.pin_memory or workload.run_ahead_steps == 0:
        return workload.run_ahead_steps
    return None if knobs.pinned else 1


def memory_bytes(workload: Workload, changes: Mapping[str, Any]) -> int | None:
    """Host memory that these settings take: workers, and the batches they hold ready (twice where they are pinned).

    None where the size of a batch is not known.
    """
    knobs = Knobs.of(workload.settings, changes)
    if knobs.workers == 0:
        return 0
    if workload.batch_bytes is None:
        return None
    worker_bytes = workload.worker_rss_bytes or (SPAWNED_BYTES if knobs.spawned else FORKED_BYTES)
    batches = knobs.workers * knobs.prefetch * (2 if knobs.pinned else 1)
    return knobs.workers * worker_bytes + batches * workload.batch_bytes
