"""Clocks over a run, and the CPUs of a process near its device."""

from __future__ import annotations

from dataclasses import replace

import builders
import pytest

from loaderdoctor.analyse.hardware import hardware_signals
from loaderdoctor.record.run import Samples
from loaderdoctor.values import Missing

SECOND = 10**9
TWO_NODES = {"numa_nodes": {"0": "0-3", "1": "4-7"}, "gpu_numa_nodes": [1]}


def sampled(environment=None, **rows):
    run = builders.run_from("[" + "wc" * 20)
    meta = replace(run.meta, environment=environment or {})
    timed = {
        name: Samples(name, tuple({"at_ns": k * SECOND, **row} for k, row in enumerate(every)))
        for name, every in rows.items()
    }
    return hardware_signals(replace(run, meta=meta, samples=timed), builders.run_from("[wc").processes[0].pid)


def clocks(*ghz):
    return [{"cpu_frequency_hz": one * 1e9} for one in ghz]


def test_a_clock_that_falls_is_told_by_its_last_third():
    assert sampled(machine=clocks(3, 3, 2.5, 2.5, 1.5, 1.5)).cpu_clock_change.value == pytest.approx(0.5)


@pytest.mark.parametrize("rows", [clocks(3, 3, 1.5), [{}] * 9, []])
def test_few_looks_or_none_say_nothing(rows):
    assert isinstance(sampled(machine=rows).cpu_clock_change, Missing)


def test_a_gpu_held_down_by_heat_is_told_and_a_power_cap_is_how_it_runs():
    limits = [["power-cap"], ["hardware-thermal", "idle"], [], ["idle"]]
    rows = [{"gpus": [{"uuid": "GPU-1", "clock_limits": one}]} for one in limits]
    assert sampled(gpu=rows).device_held_share.value == pytest.approx(0.25)


def seen(allowed):
    return [{"processes": [{"pid": 100, "cpus_allowed_list": allowed}]}]


@pytest.mark.parametrize(("allowed", "near"), [("0-3", 0.0), ("4-7", 1.0), ("0-7", 0.5)])
def test_cpus_near_the_device(allowed, near):
    assert sampled(TWO_NODES, processes=seen(allowed)).cpus_near_device.value == near


@pytest.mark.parametrize(
    ("environment", "slug"),
    [
        ({}, "one-numa-node"),
        ({"numa_nodes": {"0": "0-7"}, "gpu_numa_nodes": [0]}, "one-numa-node"),
        ({**TWO_NODES, "gpu_numa_nodes": [0, 1]}, "several-device-nodes"),
    ],
)
def test_where_it_cannot_be_said_there_is_a_reason(environment, slug):
    assert sampled(environment, processes=seen("0-3")).cpus_near_device.slug == slug
