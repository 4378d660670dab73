"""The whole machine: who keeps its CPUs busy, what waits for them, and how much memory is left."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import psutil

from loaderdoctor.sample.procfs import BYTES_PER_KIB, TICKS_PER_S, Rarely, Roots, first_words, read_int, read_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loaderdoctor.sample.sampler import Note

FREQUENCY_EVERY_S = 5.0  # asking a CPU for its clock may wake it
FREQUENCY_CPUS = 4  # one clock domain is like the next; a few of those that the job may use are enough
MICROSECONDS = 1e-6
HZ_PER_KHZ = 1000
_MEMORY = {
    "meminfo": {
        "MemAvailable": "memory_available_bytes",
        "Cached": "page_cache_bytes",
        "Dirty": "dirty_bytes",
        "SwapFree": "swap_free_bytes",
    },
    "vmstat": {
        "pswpin": "swapped_in_pages",
        "pswpout": "swapped_out_pages",
        "pgmajfault": "major_faults",
        "workingset_refault": "file_refaults",  # before Linux 5.9 files alone; later in the next one
        "workingset_refault_file": "file_refaults",
        "oom_kill": "oom_kills",
    },
}


class MachineSampler:
    """CPU, pressure, memory and swap of the machine, by /proc or, where there is none, by psutil."""

    name = "machine"

    def __init__(self, roots: Roots) -> None:
        self._roots = roots
        self._allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        self._frequency_rarely = Rarely(FREQUENCY_EVERY_S)
        self._notes: dict[str, str] = {}

    def sample(self, pids: Sequence[int]) -> dict[str, Any] | None:  # noqa: ARG002 - asked as every sampler
        """Return the row: CPU seconds since boot, sizes now."""
        if not self._roots.has_proc:
            return _portable_row()
        row: dict[str, Any] = {**self._cpu(), **self._pressure(), **self._memory()}
        load = (read_text(self._roots.proc / "loadavg") or "").split()
        if load:
            row["load_1min"] = float(load[0])
        if self._frequency_rarely.due():
            row.update(self._frequency())
            self._frequency_rarely.done()
        return row or None

    def notes(self) -> list[Note]:
        """Which parts of the machine cannot be seen."""
        return list(self._notes.items())

    def _cpu(self) -> dict[str, Any]:
        lines = (read_text(self._roots.proc / "stat") or "").splitlines()
        per_cpu = {}
        for line in lines:
            if not line.startswith("cpu"):
                break  # the long rest is interrupts
            name, *ticks = line.split()
            per_cpu[name] = [int(tick) / TICKS_PER_S for tick in ticks]
        if "cpu" not in per_cpu:
            return {}
        allowed = [per_cpu[f"cpu{number}"] for number in self._allowed if f"cpu{number}" in per_cpu]
        return {
            "cpus": len(per_cpu) - 1,
            "busy_cpu_s": _busy(per_cpu["cpu"]),
            "iowait_cpu_s": per_cpu["cpu"][4],
            "stolen_cpu_s": _stolen(per_cpu["cpu"]),
            "allowed_cpus": len(allowed),
            "allowed_busy_cpu_s": round(sum(_busy(ticks) for ticks in allowed), 2),
            "allowed_stolen_cpu_s": round(sum(_stolen(ticks) for ticks in allowed), 2),
        }

    def _pressure(self) -> dict[str, float]:
        """Seconds in which some task waited for CPU, disk or memory."""
        row = {}
        for resource in ("cpu", "io", "memory"):
            text = read_text(self._roots.proc / "pressure" / resource)
            for line in (text or "").splitlines():
                if line.startswith("some"):
                    row[f"{resource}_pressure_s"] = int(line.rpartition("total=")[2]) * MICROSECONDS
        if not row:
            self._notes["pressure-unreadable"] = (
                "This kernel does not say how long tasks wait for CPU, disk and memory."
            )
        return row

    def _memory(self) -> dict[str, int]:
        row = {}
        for file, names in _MEMORY.items():
            try:
                words = first_words((self._roots.proc / file).read_bytes(), names)
            except OSError:
                continue
            unit = BYTES_PER_KIB if file == "meminfo" else 1
            row.update({names[name]: int(word) * unit for name, word in words.items()})
        return row

    def _frequency(self) -> dict[str, float]:
        folder = self._roots.sys / "devices/system/cpu"
        clocks = [
            read_int(folder / f"cpu{number}/cpufreq/scaling_cur_freq") for number in self._allowed[:FREQUENCY_CPUS]
        ]
        known = [clock * HZ_PER_KHZ for clock in clocks if clock]
        return {"cpu_frequency_hz": sum(known) / len(known)} if known else {}


def _busy(seconds: Sequence[float]) -> float:
    """User, nice, system, interrupts and soft interrupts; guests are in user already, stolen time is nobody's here."""
    user, nice, system, _idle, _iowait, irq, softirq = seconds[:7]
    return round(user + nice + system + irq + softirq, 2)


def _stolen(seconds: Sequence[float]) -> float:
    return seconds[7] if len(seconds) > 7 else 0.0  # noqa: PLR2004 - the eighth column came with virtual machines


def _portable_row() -> dict[str, Any]:
    times, swap = psutil.cpu_times(), psutil.swap_memory()
    return {
        "cpus": psutil.cpu_count() or 1,
        "busy_cpu_s": times.user + times.system + getattr(times, "nice", 0.0),
        "memory_available_bytes": psutil.virtual_memory().available,
        "swap_free_bytes": swap.free,
        "load_1min": psutil.getloadavg()[0],
    }
