"""What each worker of a loader did with its time after warm-up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from loaderdoctor.analyse.frames import NS, table
from loaderdoctor.analyse.shares import share
from loaderdoctor.analyse.signals import NOT_SAMPLED, WorkerSignals
from loaderdoctor.probe.layout import UNKNOWN
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from loaderdoctor.analyse.around import WorkerSample
    from loaderdoctor.analyse.ranks import WorkerLife

_IDLE = Missing("no-worker-records", "This worker recorded no batch after warm-up.")


def with_wall(made: pd.DataFrame) -> pd.DataFrame:
    """Batches made in workers, with the worker's wall time for each: waiting for an index, and then being busy."""
    known = made[(made["worker"] >= 0) & made["idle_ns"].notna()]
    busy_ns = known["put_ns"] - known["got_ns"]
    return known.assign(busy_ns=busy_ns, worker_wall_ns=busy_ns + known["idle_ns"])


def workers_of(
    made: pd.DataFrame, lives: Sequence[WorkerLife], samples: Mapping[int, WorkerSample]
) -> tuple[WorkerSignals, ...]:
    """A row a worker index; the processes that took its place in later epochs are counted with it, the last one named.

    `made` are the loader's batches after warm-up, `samples` what the parent saw of worker processes, by process id.
    """
    busy = with_wall(made)
    return tuple(
        _worker(index, [life for life in lives if life.index == index], busy[busy["worker"] == index], samples)
        for index in sorted({life.index for life in lives})
    )


def _worker(
    index: int, lives: Sequence[WorkerLife], made: pd.DataFrame, samples: Mapping[int, WorkerSample]
) -> WorkerSignals:
    wall_ns = made["worker_wall_ns"]
    sampled = samples.get(lives[-1].pid)
    return WorkerSignals(
        index=index,
        pid=lives[-1].pid,
        batches=len(made),
        busy_share=share(made["busy_ns"], wall_ns, _IDLE),
        cpu_share=share(made["cpu_ns"], wall_ns, _IDLE),
        disk_wait_share=share(made["disk_ns"], wall_ns, _IDLE),
        network_wait_share=share(made["blocked_ns"], wall_ns, _IDLE),
        run_queue_share=share(made["run_queue_ns"], wall_ns, _IDLE),
        start_s=_start_s(lives),
        rss_bytes=_resident(made["rss_bytes"], sampled),
        private_growth_bytes=NOT_SAMPLED if sampled is None else sampled.private_growth_bytes,
        threads=NOT_SAMPLED if sampled is None else sampled.threads,
    )


def _start_s(lives: Sequence[WorkerLife]) -> Value:
    times = [seconds for life in lives if (seconds := boot_s(life, life.start_ns)) is not None]
    if not times:
        return Missing("no-worker-start", "No start of this worker was recorded.")
    return Measured(float(np.median(times)), min(times), max(times), len(times), "s")


def boot_s(life: WorkerLife, since_ns: int) -> float | None:
    """Seconds from `since_ns` until the worker asked for its first index."""
    if life.process is None:
        return None
    ready = table(life.process, "worker_ready")
    return max(0.0, (int(ready["ready_ns"].iloc[0]) - since_ns) / NS) if len(ready) else None


def private_bytes(lives: Sequence[WorkerLife]) -> int | None:
    """Memory of a worker that it shares with nobody, as it was when it was ready; None where that is not known."""
    known = [
        int(row)
        for life in lives
        if life.process is not None
        for row in table(life.process, "worker_ready")["private_bytes"]
        if row not in (UNKNOWN, 0)
    ]
    return int(np.median(known)) if known else None


def _resident(rss_bytes: pd.Series[float], sampled: WorkerSample | None) -> Value:
    """The peak that the worker itself noted every few batches, or what the parent saw."""
    known = rss_bytes.dropna()
    if len(known):
        return Measured(float(known.max()), float(known.min()), float(known.max()), len(known), "bytes")
    if sampled is not None and isinstance(sampled.rss_bytes, Measured):
        return sampled.rss_bytes
    return Missing("no-worker-memory", "The memory of this worker was not recorded.")
