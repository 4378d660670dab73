"""Workloads with constant times, whose schedules one can work out on paper."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from builders import workload

from loaderdoctor.analyse.signals import LoaderSettings, Workload


def constant(*, workers: int = 0, prefetch: int | None = None, persistent: bool = False, **times: Any) -> Workload:
    """Ten batches in one epoch, nothing but what is given takes time: blocked_s, cpu_s, disk_s to make, compute_s to use."""
    nothing = {"cpu_s": 0.0, "blocked_s": 0.0, "compute_s": 0.0, "send_s": 0.0, "receive_s": 0.0, "wait_s": 0.0}
    settings = LoaderSettings(
        batch_size=8,
        num_workers=workers,
        prefetch_factor=prefetch,
        persistent_workers=persistent,
        start_method="fork",
        pin_memory=bool(times.pop("pin_memory", False)),
    )
    given = {"batches": 10, "epochs": 1, "measured_from": 0, "worker_start_s": 0.0, "settings": settings}
    return workload(**{**nothing, **given, **times})


def with_blocked(plain: Workload, seconds: list[float]) -> Workload:
    """The workload with these waits in making its batches."""
    batches = tuple(
        replace(batch, blocked_s=blocked_s) for batch, blocked_s in zip(plain.batches, seconds, strict=True)
    )
    return replace(plain, batches=batches)
