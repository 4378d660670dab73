"""What this machine grants the job: looked up once, before the script starts."""

from __future__ import annotations

import os
import platform
import resource
import sys
from typing import TYPE_CHECKING, Any

import psutil

from loaderdoctor.sample.cgroup import Cgroups
from loaderdoctor.sample.cpulist import parse_cpu_list
from loaderdoctor.sample.mounts import Mounts, kind_of, without_home
from loaderdoctor.sample.procfs import Roots, read_int, read_pairs, read_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

HZ_PER_KHZ = 1000

# Only counts and sizes: the other SLURM variables name people, hosts and accounts.
_SLURM = (
    "SLURM_CPUS_PER_TASK",
    "SLURM_CPUS_ON_NODE",
    "SLURM_JOB_CPUS_PER_NODE",
    "SLURM_NTASKS",
    "SLURM_NTASKS_PER_NODE",
    "SLURM_NNODES",
    "SLURM_GPUS_ON_NODE",
    "SLURM_MEM_PER_NODE",
    "SLURM_MEM_PER_CPU",
)
_CONTAINER_VARIABLES = {
    "KUBERNETES_SERVICE_HOST": "kubernetes",
    "APPTAINER_CONTAINER": "apptainer",
    "SINGULARITY_CONTAINER": "apptainer",
}
_CONTAINER_FILES = {".dockerenv": "docker", "run/.containerenv": "podman"}
_CONTAINER_GROUPS = {"kubepods": "kubernetes", "docker": "docker", "libpod": "podman", "lxc": "lxc"}


def environment(
    roots: Roots | None = None,
    affinity: frozenset[int] | None = None,
    variables: Mapping[str, str] | None = None,
    working_directory: Path | str | None = None,
) -> dict[str, Any]:
    """Limits and facts of this machine as JSON values, units in the keys; no names of hosts or people.

    A key that cannot be known is absent, and "missing" says why, by the key.  The arguments stand for the real machine
    where they are None.
    """
    roots = roots or Roots()
    variables = os.environ if variables is None else variables
    found: dict[str, Any] = {"os": platform.system(), "kernel": platform.release(), "architecture": platform.machine()}
    missing: dict[str, str] = {}
    found.update(_cpus(roots, _affinity() if affinity is None else affinity, missing))
    found.update(_memory(roots, missing))
    found.update(_shm(roots, missing))
    found.update(_ulimits())
    found.update(_clock(roots, missing))
    found.update(_numa(roots, missing))
    found.update(_file_system(roots, str(working_directory or os.getcwd()), missing))  # noqa: PTH109 - compared as text
    found["container"] = _container(roots, variables)
    found["slurm"] = {name: variables[name] for name in _SLURM if name in variables}
    found["missing"] = missing
    return found


def _affinity() -> frozenset[int] | None:
    return frozenset(os.sched_getaffinity(0)) if sys.platform == "linux" else None


def _cpus(roots: Roots, affinity: frozenset[int] | None, missing: dict[str, str]) -> dict[str, Any]:
    """CPUs present and allowed: the least of affinity, cpuset and quota, and which of them decided."""
    groups = Cgroups(roots)
    online = parse_cpu_list(read_text(roots.sys / "devices/system/cpu/online") or "")
    present = len(online) or os.cpu_count() or 1
    found: dict[str, Any] = {"cpus_present": present}
    bounds: dict[str, float] = {"present": float(present)}
    if affinity is None:
        missing["cpus_affinity"] = "this system does not bind processes to CPUs"
    else:
        found["cpus_affinity"] = len(affinity)
        bounds["affinity"] = float(len(affinity))
    if groups.version is None:
        missing["cpus_quota"] = "no control groups can be seen"
    else:
        found["cgroup_version"] = groups.version
        if cpuset := groups.cpuset():
            found["cpus_cpuset"] = len(cpuset)
            bounds["cpuset"] = float(len(cpuset))
        if quota := groups.cpu_quota():
            found["cpus_quota"] = quota
            bounds["quota"] = quota
        else:
            missing["cpus_quota"] = "the control groups set no quota"
    # At equal counts the first named decides: the machine itself limits before anything narrower does.
    decided_by = min(bounds, key=lambda name: bounds[name])
    return {**found, "cpus_allowed": bounds[decided_by], "cpus_allowed_by": decided_by}


def _memory(roots: Roots, missing: dict[str, str]) -> dict[str, Any]:
    sizes = read_pairs(roots.proc / "meminfo")
    total = sizes.get("MemTotal") or psutil.virtual_memory().total
    found: dict[str, Any] = {
        "memory_total_bytes": total,
        "swap_total_bytes": sizes["SwapTotal"] if "SwapTotal" in sizes else psutil.swap_memory().total,
    }
    limit = Cgroups(roots).memory_limit_bytes()
    if limit is None:
        missing["memory_limit_bytes"] = "no control group limits the memory"
    else:
        found["memory_limit_bytes"] = min(limit, total)
    return found


def _shm(roots: Roots, missing: dict[str, str]) -> dict[str, Any]:
    try:
        status = os.statvfs(roots.shm)
    except OSError:
        missing["shm_total_bytes"] = "there is no /dev/shm"
        return {}
    return {
        "shm_total_bytes": status.f_blocks * status.f_frsize,
        "shm_free_bytes": status.f_bavail * status.f_frsize,
    }


def _ulimits() -> dict[str, Any]:
    """Soft limits; None: unlimited."""
    limits = {"ulimit_open_files": resource.RLIMIT_NOFILE, "ulimit_locked_memory_bytes": resource.RLIMIT_MEMLOCK}
    soft = {name: resource.getrlimit(number)[0] for name, number in limits.items()}
    return {name: None if limit == resource.RLIM_INFINITY else limit for name, limit in soft.items()}


def _clock(roots: Roots, missing: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for line in (read_text(roots.proc / "cpuinfo") or "").splitlines():
        if line.startswith("model name"):
            found["cpu_model"] = line.partition(":")[2].strip()
            break
    folder = roots.sys / "devices/system/cpu/cpu0/cpufreq"
    if governor := read_text(folder / "scaling_governor"):
        found["cpu_governor"] = governor
    else:
        missing["cpu_governor"] = "the CPU's clock is not governed from here"
    if highest := read_int(folder / "cpuinfo_max_freq"):
        found["cpu_frequency_max_hz"] = highest * HZ_PER_KHZ
    else:
        missing["cpu_frequency_max_hz"] = "the CPU's clock is not shown here"
    return found


def _numa(roots: Roots, missing: dict[str, str]) -> dict[str, Any]:
    """NUMA nodes: the CPUs of each, and the nodes that display controllers (GPUs) hang on."""
    nodes = {}
    for folder in sorted((roots.sys / "devices/system/node").glob("node[0-9]*")):
        nodes[folder.name.removeprefix("node")] = read_text(folder / "cpulist") or ""
    if not nodes:
        missing["numa_nodes"] = "the system does not name its NUMA nodes"
        return {}
    found: dict[str, Any] = {"numa_nodes": nodes}
    gpu_nodes = set()
    for device in (roots.sys / "bus/pci/devices").glob("*"):
        if (read_text(device / "class") or "").startswith("0x03"):
            node = read_int(device / "numa_node")
            if node is not None and node >= 0:  # -1: the firmware does not say
                gpu_nodes.add(node)
    if gpu_nodes:
        found["gpu_numa_nodes"] = sorted(gpu_nodes)
    else:
        missing["gpu_numa_nodes"] = "no GPU names its NUMA node"
    return found


def _file_system(roots: Roots, working_directory: str, missing: dict[str, str]) -> dict[str, Any]:
    mount = Mounts(roots).of(working_directory)
    if mount is None:
        missing["working_directory_file_system"] = "the mounts of this system are not listed"
        return {}
    return {
        "working_directory_mount": without_home(mount.folder),
        "working_directory_file_system": mount.file_system,
        "working_directory_kind": kind_of(mount.file_system),
    }


def _container(roots: Roots, variables: Mapping[str, str]) -> str:
    """Return kubernetes, docker, podman, apptainer or lxc; "none" where no sign of one is to be seen."""
    groups = read_text(roots.proc / "1/cgroup") or ""
    signs = [name for variable, name in _CONTAINER_VARIABLES.items() if variable in variables]
    signs += [name for word, name in _CONTAINER_GROUPS.items() if word in groups]
    signs += [name for file, name in _CONTAINER_FILES.items() if (roots.root / file).exists()]
    return signs[0] if signs else "none"
