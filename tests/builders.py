"""Signals and runs for tests: a complete Signals value to vary, and a run drawn as text as it would be read from disk."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from drawn_runs import UNIT_S, Records, ranks_from, run_from, run_of, write

from loaderdoctor.analyse.signals import (
    BatchWork,
    DeviceSignals,
    HotFunction,
    LoaderSettings,
    LoaderSignals,
    MachineSignals,
    Phase,
    Signals,
    Site,
    Stage,
    StepSignals,
    WorkerSignals,
    Workload,
)
from loaderdoctor.values import Measured, Missing

__all__ = [
    "UNIT_S",
    "Records",
    "around",
    "device",
    "exact",
    "loader",
    "machine",
    "ranks_from",
    "run_from",
    "run_of",
    "signals",
    "steps",
    "worker",
    "workload",
    "write",
]

_NO_DEVICE = Missing("no-device", "The run used no device but the CPU.")


def exact(value: float, unit: str = "share") -> Measured:
    """A value with an interval of no width."""
    return Measured.exact(value, unit)


def around(value: float, unit: str = "share", spread: float = 0.1, n: int = 100) -> Measured:
    """A value with an interval of +-spread, relative."""
    return Measured(value, value * (1 - spread), value * (1 + spread), n, unit)


def workload(
    *,
    batches: int = 100,
    epochs: int = 2,
    cpu_s: float = 0.03,
    disk_s: float = 0.0,
    blocked_s: float = 0.0,
    run_queue_s: float = 0.0,
    send_s: float = 0.0005,
    receive_s: float = 0.0005,
    compute_s: float = 0.01,
    wait_s: float = 0.03,
    settings: LoaderSettings | None = None,
    **overrides: Any,
) -> Workload:
    """`batches` equal batches over `epochs` epochs."""
    per_epoch = batches // epochs
    work = tuple(
        BatchWork(cpu_s, disk_s, blocked_s, run_queue_s, send_s, receive_s, k // per_epoch, k % per_epoch)
        for k in range(batches)
    )
    plain = Workload(
        loader="train.py:42",
        settings=settings or LoaderSettings(batch_size=32),
        batches=work,
        compute_s=(compute_s,) * batches,
        waits_s=(wait_s,) * batches,
        epoch_overhead_s=(0.0,) * epochs,
        worker_start_s=0.03,
        cores=8.0,
        compute_cpu_share=1.0,
        measured_from=batches // 10,
        batch_bytes=32 * 3 * 224 * 224 * 4,
        worker_rss_bytes=300_000_000,
    )
    return replace(plain, **overrides)


def worker(index: int = 0, **overrides: Any) -> WorkerSignals:
    """A worker that is busy all the time, with its CPU."""
    plain = WorkerSignals(
        index=index,
        pid=200 + index,
        batches=50,
        busy_share=around(0.97),
        cpu_share=around(0.93),
        disk_wait_share=around(0.01),
        network_wait_share=around(0.02),
        run_queue_share=around(0.01),
        start_s=exact(0.03, "s"),
        rss_bytes=exact(300e6, "bytes"),
    )
    return replace(plain, **overrides)


def loader(**overrides: Any) -> LoaderSignals:
    """A training loader without workers whose batches take three quarters of the step."""
    no_workers = Missing("no-workers", "The loader has no workers.")
    settings = overrides.get("settings", LoaderSettings(batch_size=32, num_workers=0, dataset_len=1600))
    site = overrides.get("site", Site("/home/user/train.py", 42))
    with_workers = settings.num_workers > 0
    plain = LoaderSignals(
        id="train.py:42",
        role="train",
        site=site,
        settings=settings,
        batches=100,
        epochs=2,
        wait_s=around(2.7, "s"),
        exposed_wait_s=around(2.7, "s"),
        exposed_wait_share=around(0.75, spread=0.03),
        first_batch_gap_s=around(0.03, "s"),
        epoch_gap_share=exact(0.01),
        ready_median=exact(0, "batches") if with_workers else no_workers,
        ready_empty_share=around(0.95, spread=0.03) if with_workers else no_workers,
        step_s=around(0.04, "s"),
        compute_s=around(0.01, "s"),
        fetch_s=around(0.03, "s"),
        fetch_cpu_share=around(0.95, spread=0.03),
        fetch_disk_share=around(0.02),
        fetch_blocked_share=around(0.02),
        fetch_run_queue_share=around(0.01),
        collate_s=around(0.002, "s"),
        slowest_sample_s=around(0.0015, "s"),
        sample_s=around(0.0009, "s"),
        send_s=around(0.0005, "s") if with_workers else no_workers,
        receive_s=around(0.0005, "s") if with_workers else no_workers,
        sampler_s=around(0.00002, "s"),
        batch_bytes=exact(32 * 3 * 224 * 224 * 4, "bytes"),
        tensors_per_batch=exact(2, "tensors"),
        head_of_line_share=exact(0.0) if with_workers else no_workers,
        worker_busy_share=around(0.97, spread=0.02) if with_workers else no_workers,
        workers=tuple(worker(index) for index in range(settings.num_workers)),
        stages=(
            Stage("decode", around(0.02, "s"), around(0.99, spread=0.01), "worker" if with_workers else "main"),
            Stage("transform", around(0.008, "s"), around(0.99, spread=0.01), "worker" if with_workers else "main"),
            Stage("collate", around(0.002, "s"), around(0.98, spread=0.01), "worker" if with_workers else "main"),
        ),
        hot_functions=(HotFunction("Photos.__getitem__", "/home/user/train.py", 20, around(0.6)),),
        workload=workload(settings=settings),
    )
    return replace(plain, **overrides)


def steps(**overrides: Any) -> StepSignals:
    """Ninety steps of 40 ms, three quarters of which are data wait."""
    plain = StepSignals(
        count=88,
        excluded={"warm-up": 10, "first-of-epoch": 1, "last-of-run": 1},
        median_s=around(0.04, "s", 0.03),
        samples_per_s=around(800, "samples/s", 0.03),
        data_wait_share=around(0.75, spread=0.03),
        h2d_share=exact(0.0),
        compute_share=around(0.25, spread=0.09),
        other_share=exact(0.0),
        series=((0.03, 0.0, 0.01),) * 88,
    )
    return replace(plain, **overrides)


def device(**overrides: Any) -> DeviceSignals:
    """No device but the CPU."""
    fields = (
        "hidden_wait_share copy_share copy_bytes_per_step pinned_share blocking_share copy_bandwidth drained_share "
        "sync_share syncs_per_step pin_busy_share host_allocations_per_step"
    )
    plain = DeviceSignals(kind="cpu", clock="host", **dict.fromkeys(fields.split(), _NO_DEVICE))
    return replace(plain, **overrides)


def machine(**overrides: Any) -> MachineSignals:
    """Eight free cores and enough memory."""
    plain = MachineSignals(
        cpus_present=exact(8, "cpus"),
        cpus_allowed=exact(8, "cpus"),
        cpu_busy_share=around(0.13),
        neighbour_cpu_share=around(0.01),
        throttled_share=exact(0.0),
        memory_limit_bytes=exact(32e9, "bytes"),
        memory_available_bytes=exact(24e9, "bytes"),
        shm_free_bytes=exact(16e9, "bytes"),
        facts={"os": "Linux", "kernel": "6.8"},
    )
    return replace(plain, **overrides)


def signals(**overrides: Any) -> Signals:
    """A run on a CPU that waits for data in three quarters of its time, for want of workers."""
    plain = Signals(
        clock="host",
        starved_share=around(0.75, spread=0.03),
        measured_s=3.6,
        warm_up_steps=10,
        steps=steps(),
        phases=(
            Phase("start-up", 2.0, 0.33, 0.0),
            Phase("first-batch", 0.03, 0.005, 0.03),
            Phase("train", 3.9, 0.65, 2.9),
            Phase("epoch-gap", 0.03, 0.005, 0.03),
            Phase("other", 0.04, 0.01, 0.0),
        ),
        loaders=(loader(),),
        device=device(),
        machine=machine(),
        ranks=1,
        rank_shares=(0.75,),
        overhead_share=exact(0.002),
        lost_records=0,
        notes=(),
    )
    return replace(plain, **overrides)
