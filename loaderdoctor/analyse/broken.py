"""Why a run may have crashed or come to a stop: workers that never answer, shared memory and descriptors that run out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaderdoctor.analyse.frames import NS, table
from loaderdoctor.analyse.parts import absent
from loaderdoctor.analyse.signals import ENDED_BY_ITSELF, NOT_SAMPLED, BrokenSignals
from loaderdoctor.record.run import RUNNING
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loaderdoctor.analyse.ranks import Rank, WorkerLife
    from loaderdoctor.record.run import ProcessRecords, Run

    Row = Mapping[str, Any]

FROM_OUTSIDE = ("interrupt", "signal")
BROKEN = (*FROM_OUTSIDE, "crash")
NONE_SILENT = Missing("no-silent-worker", "Every worker that lived at the end had made batches.")
STILL_RUNNING = Missing(
    "still-running", "No end of the run was recorded: it still ran when it was read, or loaderdoctor was killed."
)
NO_LIMIT = Missing("no-limit", "There is no limit on open files, or it was not looked up.")
_IDLE = ("sleep", "lock", "unnamed")


def broken_signals(run: Run, rank: Rank) -> BrokenSignals:
    """Of a run that crashed, or was ended from outside; of any other there is nothing to say."""
    if run.meta.ended_by == RUNNING:
        return absent(BrokenSignals, STILL_RUNNING)
    if run.meta.ended_by not in BROKEN:
        return BrokenSignals()
    rows = run.rows("processes")
    silent = _silent(rank, rows)
    free = run.rows("shm")
    return BrokenSignals(
        stalled_s=_stalled_s(run, rank),
        silent_workers=Measured.exact(float(len(silent)), "workers"),
        silent_waits_share=_idle_share(silent, rows),
        parent_threads=_threads_at_start(rank, rows),
        shm_size_bytes=_least(free, "size_bytes"),
        shm_least_free_bytes=_least(free, "free_bytes"),
        descriptors_share=_descriptors_share(run, rows),
    )


def _stalled_s(run: Run, rank: Rank) -> Value:
    """A script that crashes stalls for nobody."""
    if run.meta.ended_by not in FROM_OUTSIDE or run.meta.ended_ns is None:
        return ENDED_BY_ITSELF
    main = rank.main
    last_ns = max(
        (
            int(table(main, kind)["end_ns"].max())
            for kind in ("next", "worker_started", "optimizer_step")
            if kind in main.tables
        ),
        default=main.header["opened_ns"],
    )
    if main.seen is not None:
        last_ns = main.seen.apart(last_ns)
    return Measured.exact(max(0.0, (run.meta.ended_ns - last_ns) / NS), "s")


def _silent(rank: Rank, rows: Sequence[Row]) -> list[WorkerLife]:
    """Workers that lived at the last look and have made no batch."""
    alive = {process["pid"] for process in rows[-1]["processes"]} if rows else set()
    return [
        life for life in rank.workers if life.pid in alive and (life.process is None or _made_nothing(life.process))
    ]


def _made_nothing(worker: ProcessRecords) -> bool:
    """Of a long run what a worker made may lie in the stretches that were left out."""
    return worker.seen is None and len(table(worker, "fetch")) == 0


def _idle_share(silent: Sequence[WorkerLife], rows: Sequence[Row]) -> Value:
    """Of the looks at them, those in which they neither ran nor read."""
    if not silent:
        return NONE_SILENT
    pids = {life.pid for life in silent}
    waits = [process["waits"] for process in rows[-1]["processes"] if process["pid"] in pids and "waits" in process]
    looks = sum(sum(one.values()) for one in waits)
    if looks == 0:
        return NOT_SAMPLED
    return Measured.exact(sum(one.get(kind, 0) for one in waits for kind in _IDLE) / looks, "share", looks)


def _threads_at_start(rank: Rank, rows: Sequence[Row]) -> Value:
    """Threads of the training process at the last look before its last workers were started."""
    if not rank.workers:
        return Missing("no-workers", "The loader has no workers.")
    start_ns = max(life.start_ns for life in rank.workers)
    seen = [
        process["threads"]
        for row in rows
        if row["at_ns"] <= start_ns
        for process in row["processes"]
        if process["pid"] == rank.main.pid and "threads" in process
    ]
    return Measured.exact(float(seen[-1]), "threads") if seen else NOT_SAMPLED


def _least(rows: Sequence[Row], name: str) -> Value:
    known = [float(row[name]) for row in rows if name in row]
    return Measured(min(known), min(known), max(known), len(known), "bytes") if known else NOT_SAMPLED


def _descriptors_share(run: Run, rows: Sequence[Row]) -> Value:
    limit = run.meta.environment.get("ulimit_open_files")
    counted = [process["descriptors"] for row in rows for process in row["processes"] if "descriptors" in process]
    if not counted:
        return Missing("not-counted", "Open descriptors were not counted in this run.")
    return Measured.exact(max(counted) / limit, "share", len(counted)) if limit else NO_LIMIT
