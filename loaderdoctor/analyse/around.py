"""What the samples from outside say: the machine, the disk below the data, and each worker."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from loaderdoctor.analyse.counters import NANOSECONDS, Change, changes, key, proportion, ratio, sizes, within
from loaderdoctor.analyse.signals import DiskSignals, MachineSignals
from loaderdoctor.probe.layout import ROLE_MAIN, ROLE_WORKER
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from loaderdoctor.analyse.counters import Row, Window
    from loaderdoctor.record.run import Run

PAGE_BYTES = 4096  # of /proc/vmstat; machines with larger pages swap more than is said here, never less
NOT_SAMPLED = Missing("not-sampled", "The run was not sampled from outside, or for less than two rows.")
NOT_READABLE = Missing("not-readable", "This system does not show it.")
NOT_SEEN = Missing("process-not-sampled", "The process was not sampled, or for less than two rows.")
NO_DATA_FILE = Missing("no-data-file-seen", "No data file was seen open or mapped.")
NO_DEVICE = Missing(
    "no-block-device", "The disk below the data files is on another machine, in memory, or hidden by a container."
)
NO_READS = Missing("no-reads", "Nothing was read by calls that are counted; mapped files are not.")
NOT_LOOKED_AT = Missing(
    "private-not-measured", "The process ended before its private memory was looked at often enough."
)
NAMES_HIDDEN = Missing("wait-names-hidden", "The kernel does not say what a sleeping process waits for.")
# A thread may wake between the look at its state and the look at what it waits for: few waits without a name widen the
# interval.  Where they are most of what was seen, the kernel hides the names, and nothing is left to say.
MOST_UNNAMED_SHARE = 0.5


def machine_signals(run: Run, window: Window | None = None) -> MachineSignals:
    """The machine as this job may use it, over a window (ns, begin and end) or the whole run.

    Shares come with an interval from the rows; the interval of a size is the range seen.
    """
    rows = _rows(run, "machine", window)
    environment = run.meta.environment
    allowed, present = _fact(environment, "cpus_allowed", "cpus"), _fact(environment, "cpus_present", "cpus")
    job = _job_cpu(run)
    return MachineSignals(
        cpus_present=present,
        cpus_allowed=allowed,
        cpu_busy_share=_share_of_cpus(_rows(run, "processes", window), _tree_cpu_s, allowed),
        neighbour_cpu_share=_neighbours(rows, job, "busy_cpu_s", "stolen_cpu_s", "cpus"),
        throttled_share=_throttled(_rows(run, "cgroup", window)),
        memory_limit_bytes=_memory_limit(environment),
        memory_available_bytes=_memory_available(rows, _rows(run, "cgroup", window)),
        shm_free_bytes=_shm_free(environment, _rows(run, "shm", window)),
        facts=environment,
        neighbour_allowed_cpu_share=_neighbours(
            rows, job, "allowed_busy_cpu_s", "allowed_stolen_cpu_s", "allowed_cpus"
        ),
        stolen_cpu_share=_share_of_cpus(rows, key("stolen_cpu_s"), present),
        cpu_pressure_share=_share(rows, "cpu_pressure_s"),
        io_pressure_share=_share(rows, "io_pressure_s"),
        memory_pressure_share=_share(rows, "memory_pressure_s"),
        swapped_bytes_per_s=ratio(changes(rows, _swapped_pages), "bytes/s", _reason(rows), scale=PAGE_BYTES),
        file_refaults_per_s=ratio(changes(rows, key("file_refaults")), "pages/s", _reason(rows)),
    )


def disk_signals(run: Run, window: Window | None = None) -> DiskSignals:
    """Where the data files lie and what the disk below them did, over a window or the whole run."""
    rows = _rows(run, "disks", window)
    seen = _sightings(rows)
    mount = max(seen, key=lambda entry: entry["seen"], default=None)
    device = mount["device"] if mount else None
    why = NO_DEVICE if mount else NO_DATA_FILE if rows else NOT_SAMPLED

    def of_disk(name: str) -> Callable[[Row], float | None]:
        return lambda row: row["disks"].get(device, {}).get(name)

    reads = _growth(_rows(run, "processes", window), _batch_makers(run))
    from_disk = [Change(read.from_disk, read.seconds) for read in reads]
    from_anywhere = [Change(read.from_anywhere, read.seconds) for read in reads]
    misses = [Change(read.from_disk, read.from_anywhere) for read in reads]
    return DiskSignals(
        file_system=mount["file_system"] if mount else None,
        kind=mount["kind"] if mount else "unknown",
        device=device,
        seen_share=proportion(mount["seen"] if mount else 0, sum(entry["seen"] for entry in seen), why),
        read_bytes_per_s=ratio(changes(rows, of_disk("read_bytes")), "bytes/s", why),
        reads_per_s=ratio(changes(rows, of_disk("reads")), "reads/s", why),
        busy_share=ratio(changes(rows, of_disk("busy_s")), "share", why, highest=1.0),
        await_s=ratio(changes(rows, of_disk("read_wait_s"), of_disk("reads")), "s", why),
        queue_length=ratio(changes(rows, of_disk("queued_s")), "requests", why),
        job_read_bytes_per_s=ratio(from_disk, "bytes/s", NOT_SEEN),
        job_read_chars_per_s=ratio(from_anywhere, "bytes/s", NOT_SEEN),
        cache_hit_share=_complement(ratio(misses, "share", NO_READS if reads else NOT_SEEN, highest=1.0)),
    )


@dataclass(frozen=True)
class WorkerSample:
    """A worker as the parent saw it.  The shares are of its time, its wait for work on the index queue included.

    A wait on a network file system counts as network where the kernel names it; a wait in poll() on a socket cannot be
    told from a wait for work, and counts as sleep.
    """

    pid: int
    rss_bytes: Value
    private_bytes: Value
    private_growth_bytes: Value  # from the first to the last look at its page tables
    threads: Value
    cpus_allowed_list: str | None  # at the last row, "0-3,8"
    cpu_share: Value  # of one core, all threads
    run_queue_share: Value  # of the main thread, ready to run and not running
    disk_share: Value  # of the observations of the main thread, like those below
    network_share: Value
    lock_share: Value
    sleep_share: Value
    other_threads_share: Value = NOT_SEEN  # of its CPU time, that of threads beside the main one


def worker_samples(run: Run, window: Window | None = None) -> dict[int, WorkerSample]:
    """Samples of the worker processes, by process id, over a window or the whole run."""
    pids = dict.fromkeys(process.pid for process in run.processes if process.header["role"] == ROLE_WORKER)
    return {pid: _worker_sample(pid, _one_process(run, pid, window)) for pid in pids}


def _worker_sample(pid: int, rows: Sequence[Row]) -> WorkerSample:
    private = [value for row in rows if (value := row.get("private_bytes")) is not None]
    growth: Value = NOT_LOOKED_AT
    if len(private) > 1:
        growth = Measured.exact(private[-1] - private[0], "bytes", len(private))
    waits = _waits(rows)
    observed = sum(waits.values())
    affinity = [row["cpus_allowed_list"] for row in rows if "cpus_allowed_list" in row]
    return WorkerSample(
        pid=pid,
        rss_bytes=sizes(rows, key("rss_bytes"), "bytes", NOT_SEEN),
        private_bytes=sizes(rows, key("private_bytes"), "bytes", NOT_LOOKED_AT),
        private_growth_bytes=growth,
        threads=sizes(rows, key("threads"), "threads", NOT_SEEN),
        cpus_allowed_list=affinity[-1] if affinity else None,
        cpu_share=ratio(changes(rows, key("cpu_s")), "share", NOT_SEEN),
        run_queue_share=ratio(changes(rows, key("main_thread_run_queue_s")), "share", NOT_SEEN, highest=1.0),
        disk_share=proportion(waits.get("disk", 0), observed, NOT_SEEN),
        network_share=_named("network", waits),
        lock_share=_named("lock", waits),
        sleep_share=proportion(waits.get("sleep", 0) + waits.get("unnamed", 0), observed, NOT_SEEN),
        other_threads_share=_other_threads(rows),
    )


def _other_threads(rows: Sequence[Row]) -> Value:
    """The process counts in ticks and its main thread in nanoseconds: only the sum over all rows is compared."""
    main = ratio(changes(rows, key("main_thread_cpu_s"), key("cpu_s")), "share", NOT_SEEN, highest=1.0)
    return _complement(main)


def _waits(rows: Sequence[Row]) -> dict[str, int]:
    """Observations by kind from the first row to the last, or up to the only one."""
    counted = [row["waits"] for row in rows if "waits" in row]
    if not counted:
        return {}
    first = rows[0].get("waits", {}) if len(rows) > 1 else {}
    return {kind: count - first.get(kind, 0) for kind, count in counted[-1].items()}


def _named(kind: str, waits: Mapping[str, int]) -> Value:
    """Share of a kind that is told by a kernel function's name; each wait without a name may have been one."""
    observed, unnamed = sum(waits.values()), waits.get("unnamed", 0)
    if unnamed > MOST_UNNAMED_SHARE * observed:
        return NAMES_HIDDEN
    known = proportion(waits.get(kind, 0), observed, NOT_SEEN)
    most = proportion(waits.get(kind, 0) + unnamed, observed, NOT_SEEN)
    return replace(known, high=most.high) if isinstance(known, Measured) and isinstance(most, Measured) else known


def _rows(run: Run, name: str, window: Window | None) -> list[Row]:
    return within(run.rows(name), window)


def _one_process(run: Run, pid: int, window: Window | None) -> list[Row]:
    """Rows of one process; where a pid was used twice in a run, of the process that lived for more of them."""
    lives: dict[int, list[Row]] = {}
    for row in _rows(run, "processes", window):
        for process in row["processes"]:
            if process["pid"] == pid:
                lives.setdefault(process["started_ticks"], []).append({"at_ns": row["at_ns"], **process})
    return max(lives.values(), key=len, default=[])


def _batch_makers(run: Run) -> list[int]:
    """Processes that read samples: the workers, or the main processes where there are none."""
    for role in (ROLE_WORKER, ROLE_MAIN):
        pids = [process.pid for process in run.processes if process.header["role"] == role]
        if pids:
            return list(dict.fromkeys(pids))
    return []


def _fact(environment: Mapping[str, Any], name: str, unit: str) -> Value:
    value = environment.get(name)
    if value is None:
        return Missing(
            "not-known", environment.get("missing", {}).get(name, "It was not looked up when the run began.")
        )
    return Measured.exact(float(value), unit)


def _tree_cpu_s(row: Row) -> float:
    """CPU of the whole tree since it began: what a child used passes to its parent when it is waited for."""
    return float(sum(process["cpu_s"] + process["reaped_cpu_s"] for process in row["processes"]))


def _job_cpu(run: Run) -> Callable[[int], float | None]:
    """CPU seconds of the tree at a time, between the rows by a straight line; None outside them."""
    points = [(row["at_ns"], _tree_cpu_s(row)) for row in run.rows("processes")]
    times = [at_ns for at_ns, _ in points]

    def at(at_ns: int) -> float | None:
        after = bisect_right(times, at_ns)
        if after == 0 or after == len(points):
            return None
        (t0, cpu0), (t1, cpu1) = points[after - 1], points[after]
        return float(cpu0 + (cpu1 - cpu0) * (at_ns - t0) / (t1 - t0))

    return at


def _neighbours(rows: Sequence[Row], job: Callable[[int], float | None], busy: str, stolen: str, cpus: str) -> Value:
    """Share of the CPUs that others kept busy: all that was busy or stolen, less what the job's own tree used."""

    def others(row: Row) -> float | None:
        own, all_busy = job(row["at_ns"]), row.get(busy)
        return None if own is None or all_busy is None else all_busy + row.get(stolen, 0.0) - own

    known = [row for row in rows if others(row) is not None]
    # The kernel counts in ticks, the two files of which this is the difference are read some milliseconds apart: a
    # second may come out below nothing, and only the sum is held.
    found = [
        Change((others(later) or 0.0) - (others(earlier) or 0.0), (later["at_ns"] - earlier["at_ns"]) * NANOSECONDS)
        for earlier, later in pairwise(known)
    ]
    count = known[-1].get(cpus) if known else None
    if not count:
        return _reason(rows)
    return ratio(found, "share", _reason(rows), scale=1 / count, highest=1.0)


def _share_of_cpus(rows: Sequence[Row], cpu_s: Callable[[Row], float | None], cpus: Value) -> Value:
    if isinstance(cpus, Missing):
        return cpus
    return ratio(changes(rows, cpu_s), "share", _reason(rows), scale=1 / cpus.value, highest=1.0)


def _share(rows: Sequence[Row], name: str) -> Value:
    return ratio(changes(rows, key(name)), "share", _reason(rows), highest=1.0)


def _reason(rows: Sequence[Row]) -> Missing:
    return NOT_READABLE if len(rows) > 1 else NOT_SAMPLED


def _swapped_pages(row: Row) -> float | None:
    moved_in, moved_out = row.get("swapped_in_pages"), row.get("swapped_out_pages")
    return None if moved_in is None or moved_out is None else float(moved_in + moved_out)


def _throttled(rows: Sequence[Row]) -> Value:
    """Share of the quota's periods in which the group was stopped; exactly none where no group has a quota."""
    if len(rows) > 1 and all(row.get("quota_cpus", 0) is None for row in rows):
        return Measured.exact(0.0, "share", len(rows))
    return ratio(changes(rows, key("throttled_periods"), key("periods")), "share", _reason(rows), highest=1.0)


def _memory_limit(environment: Mapping[str, Any]) -> Value:
    limit = _fact(environment, "memory_limit_bytes", "bytes")
    return limit if isinstance(limit, Measured) else _fact(environment, "memory_total_bytes", "bytes")


def _memory_available(machine: Sequence[Row], cgroup: Sequence[Row]) -> Value:
    """The machine's, or what the control group's limit leaves (its page cache can be dropped), whichever is less."""

    def left(row: Row) -> float | None:
        limit, used = row.get("memory_limit_bytes"), row.get("memory_bytes")
        return None if limit is None or used is None else float(limit - used + row.get("memory_cache_bytes", 0))

    of_machine = sizes(machine, key("memory_available_bytes"), "bytes", _reason(machine))
    of_group = sizes(cgroup, left, "bytes", NOT_SAMPLED)
    known = [value for value in (of_machine, of_group) if isinstance(value, Measured)]
    return min(known, key=lambda value: value.value, default=of_machine)


def _shm_free(environment: Mapping[str, Any], rows: Sequence[Row]) -> Value:
    sampled = sizes(rows, key("free_bytes"), "bytes", NOT_SAMPLED)
    return sampled if isinstance(sampled, Measured) else _fact(environment, "shm_free_bytes", "bytes")


def _sightings(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Mounts with the number of times that a data file on them was seen in use between the first and the last row."""
    if not rows:
        return []
    before = (
        {entry["folder"]: entry["opened"] + entry["mapped"] for entry in rows[0]["mounts"]} if len(rows) > 1 else {}
    )
    found = [
        {**entry, "seen": entry["opened"] + entry["mapped"] - before.get(entry["folder"], 0)}
        for entry in rows[-1]["mounts"]
    ]
    return [entry for entry in found if entry["seen"]]


class _Reads(NamedTuple):
    """What some processes read between two rows, in bytes; `from_anywhere` is disk or page cache."""

    from_disk: float
    from_anywhere: float
    seconds: float


def _growth(rows: Sequence[Row], pids: Collection[int]) -> list[_Reads]:
    """Reads of the processes that live in both rows, and of those that began between them."""
    found = []
    for earlier, later in pairwise(rows):
        before = {(process["pid"], process["started_ticks"]): process for process in earlier["processes"]}
        from_disk = from_anywhere = 0.0
        known = False
        for process in later["processes"]:
            if process["pid"] not in pids or "read_chars" not in process:
                continue
            old = before.get((process["pid"], process["started_ticks"]), {})
            from_disk += process["read_bytes"] - old.get("read_bytes", 0)
            from_anywhere += process["read_chars"] - old.get("read_chars", 0)
            known = True
        if known:
            found.append(_Reads(from_disk, from_anywhere, (later["at_ns"] - earlier["at_ns"]) * NANOSECONDS))
    return found


def _complement(value: Value) -> Value:
    if isinstance(value, Missing):
        return value
    return Measured(1 - value.value, 1 - value.high, 1 - value.low, value.n, value.unit)
