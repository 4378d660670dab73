"""A loader as it ran, in the form in which predictions replay it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from loaderdoctor.analyse.cold import cold_of
from loaderdoctor.analyse.exposure import DEVICE, as_nearest
from loaderdoctor.analyse.frames import NS
from loaderdoctor.analyse.signals import BatchWork, Workload
from loaderdoctor.analyse.workers import boot_s, private_bytes
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from loaderdoctor.analyse.loaders import Loader
    from loaderdoctor.analyse.ranks import WorkerLife
    from loaderdoctor.analyse.signals import OrderSignals
    from loaderdoctor.values import Value

LEAST_MADE = 0.5  # of the batches must have a record of their making; fewer, and a replay would be made up
_ROUNDING = 0.05  # the CPU time of other threads is counted in hundredths of a second; more than this does not add up
_SHAKEN = 1.3  # times the main process's CPU time is what receiving takes where workers sleep: 1.1 to 1.35 measured
_CROWDED = 0.05  # of computing, spent waiting for a core; more hides what a cold cache costs
_QUICK = 0.1  # of the steps had their core at once, even on a full machine
_SYNCED = 0.9  # of the steps in which the host waits for the device: then it never runs ahead
_PARTS = ["cpu_ns", "disk_ns", "blocked_ns", "run_queue_ns", "pickle_ns", "receive_ns"]


def workload_of(
    loader: Loader,
    steps: pd.DataFrame,
    made: pd.DataFrame,
    lives: Sequence[WorkerLife],
    *,
    cores: float,
    clock: str,
    order: OrderSignals,
    compute_cores: Value,
    compute_queued: Value,
) -> Workload | None:
    """The loader's batches in order of delivery; None where too few of them have a record of how they were made.

    `steps` are the loader's own with their exposure and `span_ns`; a batch without a record counts as the mean one.
    """
    steps = steps.sort_values("got_ns", kind="stable")
    batches = steps[["loop", "key"]].merge(made[["loop", "key", "worker", *_PARTS]], on=["loop", "key"], how="left")
    if len(batches) == 0 or batches["cpu_ns"].notna().mean() < LEAST_MADE:
        return None
    seconds = batches[_PARTS].astype(float).fillna(batches[_PARTS].mean()).fillna(0.0) / NS
    waits = _waiting_part(steps, seconds["receive_ns"])
    epoch = steps["loop"].rank(method="dense").astype(int).to_numpy() - 1
    ordinal = steps.groupby("loop").cumcount().to_numpy()
    workers = batches["worker"].fillna(-1).astype(int).tolist()
    chosen_s = (steps["sampler_ns"].clip(lower=0) / NS).tolist()
    work = tuple(
        BatchWork(
            cpu_s, disk_s, blocked_s, queued_s, send_s, got_s, its_epoch, its_ordinal, worker, choose_s, waits * got_s
        )
        for (cpu_s, disk_s, blocked_s, queued_s, send_s, got_s), its_epoch, its_ordinal, worker, choose_s in zip(
            seconds.to_numpy().tolist(), epoch.tolist(), ordinal.tolist(), workers, chosen_s, strict=True
        )
    )
    on_device = clock == DEVICE
    held_ns = 0.0 if on_device else steps["held_ns"]  # a wait for another rank's batch, which is no computing
    compute_s = ((steps["end_ns"] - steps["got_ns"] - held_ns) / NS).tolist()
    boots = [boot for life in lives if (boot := boot_s(life, life.started_ns)) is not None]
    workload = Workload(
        loader=loader.id,
        settings=loader.settings,
        batches=work,
        compute_s=tuple(compute_s),
        waits_s=tuple(((steps["exposed_ns"] + held_ns) / NS).tolist()),
        epoch_overhead_s=_overheads(steps, seconds.assign(choose_s=chosen_s)),
        worker_start_s=float(np.median(boots)) if boots else 0.0,
        cores=cores,
        compute_cpu_share=_compute_cpu_share(steps, held_ns, compute_cores, cores),
        measured_from=int((~steps["measured"]).sum()),
        copy_s=float(steps.loc[steps["measured"], "copy_ns"].mean() / NS) if steps["measured"].any() else 0.0,
        batch_bytes=_batch_bytes(made),
        worker_rss_bytes=private_bytes(lives),
        device_s=_device_s(steps) if on_device else (),
        host_s=_host_s(steps) if on_device else (),
        run_ahead_steps=0 if on_device and _is_synced(steps) else None,
        restart_s=order.restart_s,
        rebuilt=order.rebuilt,
        streams=order.streams,
    )
    queued = None if on_device else _queued_share(workload, steps, compute_queued)
    # Where computing waits for a core, it does so after a wait for a batch too: then it is not the caches that show.
    cold = None if on_device or (queued or 0.0) > _CROWDED else cold_of(steps)
    return replace(workload, queued_share=queued, cold=cold, used_cores=_used_cores(workload))


def _queued_share(workload: Workload, steps: pd.DataFrame, queued: Value) -> float | None:
    """Of the time of computing, what the main thread was ready for and had no core.

    What it waits for a core in all of its time falls to computing and to next() as its CPU time does.  It is no more than
    what computing has beside CPU time, nor than what the quickest steps do without.
    """
    compute_s = np.asarray(workload.compute_s)
    used_s = workload.compute_cpu_share * compute_s.sum()
    if not isinstance(queued, Measured) or workload.compute_cpu_share > 1 + _ROUNDING or used_s <= 0:
        return None
    in_next_s = float(steps["main_cpu_ns"].clip(lower=0).sum()) / NS
    queued_s = queued.value * (compute_s.sum() + sum(workload.waits_s)) * used_s / (used_s + in_next_s)
    spared = 1 - float(np.quantile(compute_s, _QUICK)) / compute_s.mean()
    return float(max(0.0, min(queued_s / compute_s.sum(), 1 - workload.compute_cpu_share, spared)))


def _used_cores(workload: Workload) -> float:
    """Cores that making and using the batches kept busy, on the mean over the run; 0 where that cannot be said."""
    took_s = sum(workload.compute_s) + sum(workload.waits_s)
    if workload.device_s or took_s <= 0:
        return 0.0
    made_s = sum(one.cpu_s + one.send_s + one.receive_s - one.receive_wait_s + one.choose_s for one in workload.batches)
    used = (made_s + sum(workload.compute_s) * workload.compute_cpu_share) / took_s
    return used if used <= workload.cores * (1 + _ROUNDING) else 0.0


def _waiting_part(steps: pd.DataFrame, receive_s: pd.Series[float]) -> float:
    """Of the time of receiving, what was a wait for the worker's interpreter.

    A worker hands a tensor's memory over from a thread of its own, which needs the interpreter that the next batch holds.
    That thread's own work is no such wait.
    """
    known = steps["main_cpu_ns"] >= 0
    received_s = float(receive_s.to_numpy()[known.to_numpy()].sum())
    if received_s <= 0:
        return 0.0
    cpu_ns = (steps["main_cpu_ns"] - steps["sampler_ns"].clip(lower=0))[known].clip(lower=0)
    return 1 - min(1.0, _SHAKEN * float(cpu_ns.sum()) / NS / received_s)


def _compute_cpu_share(steps: pd.DataFrame, held_ns: pd.Series[float] | float, busy: Value, cores: float) -> float:
    """Cores that computing takes while it does not wait for another rank; one where that was not measured."""
    if not isinstance(busy, Measured):
        return 1.0
    spent_ns = steps["end_ns"] - steps["got_ns"]
    own_ns = (spent_ns - held_ns).sum()
    return float(min(cores, busy.value * spent_ns.sum() / own_ns)) if own_ns > 0 else 1.0


def _overheads(steps: pd.DataFrame, seconds: pd.DataFrame) -> tuple[float, ...]:
    """For each epoch what its gap has beyond the making and the hand-over of its first batch."""
    first = steps["is_first"].to_numpy()
    gap_s = steps.loc[first, "wait_ns"].to_numpy() / NS
    own_s = seconds[first].sum(axis=1).to_numpy()
    return tuple(np.maximum(0.0, gap_s - own_s).tolist())


def _batch_bytes(made: pd.DataFrame) -> int | None:
    for column in ("payload_bytes", "pin_bytes"):
        known = made[column].dropna()
        if len(known):
            return int(known.median())
    return None


def _device_s(steps: pd.DataFrame) -> tuple[float, ...]:
    """The device's own work of each step: what is left of the step without waits and copies."""
    work_ns = (
        steps["device_step_ns"]
        - (steps["exposed_ns"] - steps["build_ns"].where(steps["drained"] > 0, 0.0))
        - steps["copy_ns"]
    )
    return tuple((work_ns.clip(lower=0) / NS).tolist())


def _host_s(steps: pd.DataFrame) -> tuple[float, ...]:
    """The host's own work of each step: from its batch to the next request, without waits for the device."""
    synced_ns = as_nearest(steps["sync_ns"], steps["loader"]).fillna(0.0)
    work_ns = steps["end_ns"] - steps["got_ns"] - synced_ns
    return tuple((work_ns.clip(lower=0) / NS).tolist())


def _is_synced(steps: pd.DataFrame) -> bool:
    told = steps["syncs"].dropna()
    return len(told) > 0 and bool((told > 0).mean() >= _SYNCED)
