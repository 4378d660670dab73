"""What the parent sees from outside: processes, disks, memory, GPU and the limits of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from loaderdoctor.sample.loop import Sampling
    from loaderdoctor.sample.sampler import Sampler

__all__ = ["start"]


def start(run_dir: Path, root_pid: int) -> Sampling:
    """Sample the process `root_pid` and all that it starts into `run_dir`/samples/NAME.jsonl, until `.stop()`.

    Each row is a JSON object with "at_ns" (`time.perf_counter_ns`).  Afterwards `.notes` says what could not be seen.
    Raises OSError where the folder cannot be made.
    """
    # Imported here: psutil is for runs, not for every import of the package.
    from loaderdoctor.sample.cgroup import CgroupSampler
    from loaderdoctor.sample.disks import DisksSampler
    from loaderdoctor.sample.gpu import GpuSampler
    from loaderdoctor.sample.loop import Sampling
    from loaderdoctor.sample.machine import MachineSampler
    from loaderdoctor.sample.processes import DESCRIPTORS, MOST_PROCESSES, ProcessesSampler
    from loaderdoctor.sample.procfs import Roots, descriptors_to_keep
    from loaderdoctor.sample.shm import ShmSampler
    from loaderdoctor.sample.tree import ProcessTree

    roots = Roots()
    kept = descriptors_to_keep()
    watched = max(1, min(MOST_PROCESSES, (kept - 1) // (DESCRIPTORS + 1)))
    found = max(watched + 1, kept - watched * DESCRIPTORS)  # one more than are watched: then there are too many
    samplers: list[Sampler] = [
        ProcessesSampler(roots, watched),
        MachineSampler(roots),
        DisksSampler(roots, root_pid, run_dir.resolve()),
        CgroupSampler(roots, root_pid),
        ShmSampler(roots),
        GpuSampler(),
    ]
    sampling = Sampling(run_dir / "samples", samplers, ProcessTree(root_pid, roots, found))
    sampling.begin()
    return sampling
