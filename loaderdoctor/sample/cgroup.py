"""Control groups, version 1 and 2: what this job may use, what it uses, and how often it was stopped for it."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from loaderdoctor.sample.cpulist import parse_cpu_list
from loaderdoctor.sample.procfs import Roots, read_int, read_pairs, read_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loaderdoctor.sample.sampler import Note

# Version 1 says "no limit" by the largest multiple of a page in 63 bits; nothing real comes near a quarter of that.
NO_LIMIT_BYTES = 1 << 61
MICROSECONDS, NANOSECONDS = 1e-6, 1e-9


class Cgroups:
    """The groups that a process is in, from its own up to the outermost one that can be seen from here."""

    def __init__(self, roots: Roots, pid: int | str = "self") -> None:
        v1: dict[str, list[Path]] = {}  # controller -> folders from the process' own group upwards
        v2: list[Path] = []
        for line in (read_text(roots.proc / str(pid) / "cgroup") or "").splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers:
                v2 = _upwards((roots.cgroup, roots.cgroup / "unified"), path)
            for controller in controllers.split(",") if controllers else ():
                v1[controller] = _upwards((roots.cgroup / controller, roots.cgroup / controllers), path)
        self._cpu_v1, self._cpuset_v1, self._memory_v1 = (v1.get(name, []) for name in ("cpu", "cpuset", "memory"))
        self._cpu_v2 = _having(v2, "cpu.max")
        self._cpuset_v2 = _having(v2, "cpuset.cpus.effective")
        self._memory_v2 = _having(v2, "memory.current")
        self.version = 1 if self._cpu_v1 else 2 if v2 else None  # by what governs the CPU; None: nothing to be seen

    def cpu_quota(self) -> float | None:
        """CPUs granted by bandwidth control, the least up the tree; None: no quota."""
        quotas = [quota for folder in self._cpu_v1 if (quota := _quota_v1(folder))]
        quotas += [quota for folder in self._cpu_v2 if (quota := _quota_v2(folder))]
        return min(quotas, default=None)

    def cpuset(self) -> frozenset[int] | None:
        """CPUs of the process' own cpuset, which lies within all those above it; None where there is none."""
        for folder in self._cpuset_v2:
            return parse_cpu_list(read_text(folder / "cpuset.cpus.effective") or "") or None
        for folder in self._cpuset_v1:
            text = read_text(folder / "cpuset.effective_cpus") or read_text(folder / "cpuset.cpus")
            return parse_cpu_list(text or "") or None
        return None

    def memory_limit_bytes(self) -> int | None:
        """The least memory limit up the tree; None: no limit."""
        limits = [read_int(folder / "memory.limit_in_bytes") for folder in self._memory_v1]
        limits += [read_int(folder / "memory.max") for folder in self._memory_v2]
        return min((limit for limit in limits if limit is not None and limit < NO_LIMIT_BYTES), default=None)

    def throttling(self) -> dict[str, float]:
        """Counters of the group that was throttled most; empty where nothing counts.

        `throttled_cpu_s` adds the stops of all CPUs, so that it may grow faster than time.
        """
        counters = [_throttling_v1(folder) for folder in self._cpu_v1]
        counters += [_throttling_v2(folder) for folder in self._cpu_v2]
        found = [counter for counter in counters if counter]
        return max(found, key=lambda counter: counter["throttled_periods"], default={})

    def memory(self) -> dict[str, int]:
        """Memory of the group that bears the limit, or else of the process' own; empty where nothing counts."""
        if self._memory_v1:
            folder = _limited(self._memory_v1, "memory.limit_in_bytes")
            return _memory(folder, "memory.usage_in_bytes", "memory.oom_control", "total_cache")
        if self._memory_v2:
            return _memory(_limited(self._memory_v2, "memory.max"), "memory.current", "memory.events", "file")
        return {}


def _upwards(mounts: Sequence[Path], path: str) -> list[Path]:
    """Folders from the group's own up to the first of `mounts` that is one.

    Inside a container the path is often the host's, while the mount shows the container's own group as its root: what
    is not there is left out, and the mount itself stays.
    """
    mount = next((folder for folder in mounts if (folder / "cgroup.procs").exists()), None)
    if mount is None:
        return []
    inside = PurePosixPath(*(part for part in PurePosixPath(path).parts if part not in ("/", "..")))
    folders = [mount / inside, *(mount / parent for parent in inside.parents)]
    return [folder for folder in dict.fromkeys(folders) if folder.is_dir()]


def _having(folders: Sequence[Path], file: str) -> list[Path]:
    return [folder for folder in folders if (folder / file).exists()]


def _quota_v1(folder: Path) -> float | None:
    quota, period = read_int(folder / "cpu.cfs_quota_us"), read_int(folder / "cpu.cfs_period_us")
    return quota / period if quota is not None and quota > 0 and period else None


def _quota_v2(folder: Path) -> float | None:
    words = (read_text(folder / "cpu.max") or "max").split()
    if words[0] == "max" or len(words) < 2:  # noqa: PLR2004 - "quota period"
        return None
    return int(words[0]) / int(words[1])


def _throttling_v1(folder: Path) -> dict[str, float]:
    return _throttling(read_pairs(folder / "cpu.stat"), "throttled_time", NANOSECONDS)


def _throttling_v2(folder: Path) -> dict[str, float]:
    return _throttling(read_pairs(folder / "cpu.stat"), "throttled_usec", MICROSECONDS)


def _throttling(pairs: dict[str, int], time_key: str, unit: float) -> dict[str, float]:
    if "nr_throttled" not in pairs:
        return {}
    return {
        "periods": pairs.get("nr_periods", 0),
        "throttled_periods": pairs["nr_throttled"],
        "throttled_cpu_s": pairs.get(time_key, 0) * unit,
    }


def _limited(folders: Sequence[Path], file: str) -> Path:
    """The group with the least limit, or the first where none has one."""

    def limit(folder: Path) -> int:
        return min(read_int(folder / file) or NO_LIMIT_BYTES, NO_LIMIT_BYTES)

    return min(folders, key=limit)


def _memory(folder: Path, usage: str, events: str, cache: str) -> dict[str, int]:
    row = {
        "memory_bytes": read_int(folder / usage),
        "memory_cache_bytes": read_pairs(folder / "memory.stat").get(cache),
        "oom_kills": read_pairs(folder / events).get("oom_kill"),
    }
    return {key: value for key, value in row.items() if value is not None}


class CgroupSampler:
    """Throttling and memory of the script's control group."""

    name = "cgroup"

    def __init__(self, roots: Roots, root_pid: int) -> None:
        inside = Cgroups(roots, root_pid)
        self._groups = inside if inside.version else Cgroups(roots)
        # Limits change when the group is made, not while a job runs in it: read once, said in each row.
        self._limits = {
            "quota_cpus": self._groups.cpu_quota(),
            "memory_limit_bytes": self._groups.memory_limit_bytes(),
        }

    def sample(self, pids: Sequence[int]) -> dict[str, Any] | None:  # noqa: ARG002 - asked as every sampler
        """Return the row: counters since the group was made, and its limits; None where there are no groups."""
        row: dict[str, Any] = {**self._groups.throttling(), **self._groups.memory()}
        return {**row, **self._limits} if row else None

    def notes(self) -> list[Note]:
        """Say nothing: a machine without control groups limits nothing by them."""
        return []
