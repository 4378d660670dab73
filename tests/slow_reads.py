"""Loaders that read: what their batches wait for, on what disk, and by which lines of the script."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ailing import on_a_cpu, workers_busy
from builders import around, exact, machine

from loaderdoctor.analyse.signals import DiskSignals, MakingSignals, PassSignals, ReadSignals, Site

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

LINE = Site("/home/user/train.py", 17)


def disk(**overrides: Any) -> DiskSignals:
    """A local disk that delivers large pieces, as fast as it can."""
    plain = DiskSignals(
        file_system="ext4",
        kind="local",
        device="sda",
        seen_share=exact(1.0),
        read_bytes_per_s=around(200e6, "bytes/s"),
        reads_per_s=around(400, "reads/s"),
        busy_share=around(0.97, spread=0.02),
        await_s=around(0.01, "s"),
        queue_length=around(8, "requests"),
        job_read_bytes_per_s=around(200e6, "bytes/s"),
        job_read_chars_per_s=around(200e6, "bytes/s"),
        cache_hit_share=exact(0.0),
    )
    return replace(plain, **overrides)


def reading(
    *, of: DiskSignals | None = None, waits_for_disk: float = 0.8, reads: dict[str, Any] | None = None, **overrides: Any
) -> Signals:
    """A run whose workers are busy with reading, and wait for a disk meanwhile."""
    one = workers_busy(
        fetch_disk_share=exact(waits_for_disk),
        fetch_blocked_share=exact(0.0),
        fetch_cpu_share=exact(1 - waits_for_disk),
        reads=ReadSignals(**{"reading_site": LINE, "waiting_site": LINE, **(reads or {})}),
        work={"cpu_s": 0.03 * (1 - waits_for_disk), "disk_s": 0.03 * waits_for_disk, "blocked_s": 0.0},
        **overrides,
    )
    return on_a_cpu(one, disk=disk() if of is None else of)


def computing(one: LoaderSignals, **of_machine: Any) -> Signals:
    """A run of this loader on two CPUs."""
    two = {"cpus_present": exact(2, "cpus"), "cpus_allowed": exact(2, "cpus"), "cpu_busy_share": exact(0.95)}
    quiet = {"neighbour_allowed_cpu_share": exact(0.0)}
    return on_a_cpu(one, machine=machine(**{**two, **quiet, **of_machine}))


def making(**overrides: Any) -> MakingSignals:
    """Workers with one thread that computes, which may run on both CPUs."""
    plain = MakingSignals(
        worker_cpus=exact(2, "cpus"),
        worker_threads=exact(3, "threads"),
        worker_cores=exact(0.9, "cores"),
        worker_other_threads_share=exact(0.03),
    )
    return replace(plain, **overrides)


def passes(
    first_s: float, later_s: float, first_waits: float, disk_shares: tuple[float, float] = (1.0, 0.0)
) -> PassSignals:
    """A first pass over the data, and later ones."""
    return PassSignals(
        first_made_s=exact(first_s, "s"),
        later_made_s=exact(later_s, "s"),
        first_from_disk=exact(disk_shares[0]),
        later_from_disk=exact(disk_shares[1]),
        first_wait_share=exact(first_waits),
    )
