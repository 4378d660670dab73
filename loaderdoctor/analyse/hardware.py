"""Clocks over the run, and the CPUs of the process in relation to its device; from the samples from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from loaderdoctor.analyse import stats
from loaderdoctor.analyse.counters import within
from loaderdoctor.analyse.signals import NOT_SAMPLED, HardwareSignals
from loaderdoctor.sample.cpulist import parse_cpu_list
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loaderdoctor.analyse.counters import Row, Window
    from loaderdoctor.record.run import Run

FEWEST_LOOKS = 6  # at a clock, two in each third of the run
NO_CLOCK = Missing("clock-not-shown", "The CPU's clock is not shown here, or the run was too short to see it change.")
NO_GPU = Missing("no-gpu-seen", "No driver said why the device's clock is what it is.")
ONE_NODE = Missing("one-numa-node", "The machine has one NUMA node, or does not say on which its devices are.")
SEVERAL_NODES = Missing(
    "several-device-nodes", "Devices lie on several NUMA nodes, and which one the process uses is not recorded."
)
_HELD = {"hardware-slowdown", "hardware-thermal", "software-thermal", "power-brake"}  # a power cap is how GPUs run


def hardware_signals(run: Run, main_pid: int, window: Window | None = None) -> HardwareSignals:
    """Over a window (ns, begin and end) or the whole run; `main_pid` is the process that trains."""
    return HardwareSignals(
        cpu_clock_change=_clock_change(within(run.rows("machine"), window)),
        device_held_share=_held(within(run.rows("gpu"), window)),
        cpus_near_device=_near(run.meta.environment, _allowed(run.rows("processes"), main_pid)),
    )


def _clock_change(rows: Sequence[Row]) -> Value:
    """Median of the last third over that of the first."""
    clocks = [float(row["cpu_frequency_hz"]) for row in rows if row.get("cpu_frequency_hz")]
    if len(clocks) < FEWEST_LOOKS:
        return NO_CLOCK
    third = len(clocks) // 3
    early, late = clocks[:third], clocks[-third:]
    best = float(np.median(late) / np.median(early))
    return Measured(best, min(late) / max(early), max(late) / min(early), len(clocks), "times")


def _held(rows: Sequence[Row]) -> Value:
    limits = [set(gpu["clock_limits"]) for row in rows for gpu in row["gpus"] if "clock_limits" in gpu]
    if not limits:
        return NO_GPU
    return stats.proportion(sum(bool(one & _HELD) for one in limits) / len(limits), len(limits))


def _allowed(rows: Sequence[Row], pid: int) -> frozenset[int] | None:
    """The CPUs that a process may run on, as it was seen last."""
    lists = [one["cpus_allowed_list"] for row in rows for one in row["processes"] if _is(one, pid)]
    return parse_cpu_list(lists[-1]) if lists else None


def _is(process: Mapping[str, Any], pid: int) -> bool:
    return process["pid"] == pid and "cpus_allowed_list" in process


def _near(environment: Mapping[str, Any], allowed: frozenset[int] | None) -> Value:
    nodes, devices = environment.get("numa_nodes") or {}, environment.get("gpu_numa_nodes") or []
    if len(nodes) < 2 or not devices:  # noqa: PLR2004 - one node is as near as any
        return ONE_NODE
    if len(devices) > 1:
        return SEVERAL_NODES
    if not allowed:
        return NOT_SAMPLED
    near = parse_cpu_list(nodes.get(str(devices[0]), ""))
    return Measured.exact(len(allowed & near) / len(allowed), "share")
