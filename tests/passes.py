"""Loaders whose epochs begin with a gap, and streams, to be varied by one signal at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ailing import WORKERS, vars_of, workers_busy
from builders import around, exact, loader, workload

from loaderdoctor.analyse.signals import LoaderSettings, OrderSignals, Site

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals

EPOCHS, STEPS = 10, 20
GAP_S, STEP_S = 0.3, 0.02


def with_gaps(**overrides: Any) -> LoaderSignals:
    """Ten short epochs; the gap before each is the start of new workers, unless `order` says otherwise."""
    settings = LoaderSettings(**{**vars_of(WORKERS), "persistent_workers": False, **overrides.pop("settings", {})})
    order = {
        "restart_s": 0.28,
        "gap_start_share": around(0.93, spread=0.02),
        "gap_choose_share": exact(0.001),
        "gap_usual_share": exact(0.01),
        "gap_extra_share": exact(0.01),
        "before_first_share": exact(0.05),
        "held_share": exact(0.0),
        "held_of_waits": exact(0.0),
        "supply": around(4.0, "times"),
        "sampler_share": exact(0.0),
        "sampler_of_wait": exact(0.0),
        **overrides.pop("order", {}),
    }
    overhead_s = overrides.pop("overhead_s", 0.295)
    work = {"cpu_s": 0.003, "compute_s": STEP_S, "wait_s": GAP_S / STEPS, **overrides.pop("work", {})}
    recorded = workload(settings=settings, cores=8.0, epochs=EPOCHS, batches=EPOCHS * STEPS, batch_bytes=1000, **work)
    restart_s = order["restart_s"]
    recorded = replace(
        recorded, epoch_overhead_s=(overhead_s,) * EPOCHS, restart_s=restart_s, measured_from=STEPS, worker_start_s=0.03
    )
    share = GAP_S / (GAP_S + STEPS * STEP_S)
    given = {
        "exposed_wait_share": around(share, spread=0.03),
        "epoch_gap_share": around(share, spread=0.03),
        "first_batch_gap_s": around(GAP_S, "s"),
        "workload": recorded,
        "settings": settings,
        "epochs": EPOCHS,
        "worker_busy_share": around(0.2),
        "site": Site("train.py", 42),
        "order": OrderSignals(**order),
    }
    return loader(**{**given, **overrides})


def first_is_slow(slow_s: float = 0.29, **overrides: Any) -> LoaderSignals:
    """Workers that stay, of a stream whose first batch of each pass takes long, before its first sample."""
    order = {
        "restart_s": 0.0,
        "gap_start_share": exact(0.0),
        "gap_extra_share": around(0.95, spread=0.02),
        "before_first_share": around(0.97, spread=0.02),
        "paid_back_share": exact(0.02),
        "listing_share": around(0.6),
        "listing_site": Site("data.py", 7),
        **overrides.pop("order", {}),
    }
    settings = {"dataset_kind": "iterable", "persistent_workers": True, **overrides.pop("settings", {})}
    one = with_gaps(order=order, settings=settings, overhead_s=0.005, **overrides)
    batches = tuple(
        replace(batch, cpu_s=slow_s) if batch.ordinal < settings.get("num_workers", 2) else batch
        for batch in one.workload.batches
    )
    return replace(one, workload=replace(one.workload, batches=batches))


def held_up(
    *,
    settings: Any = None,
    order: Any = None,
    spread: float = 1.5,
    slow_s: float = 0.4,
    every: int = 25,
    **overrides: Any,
) -> LoaderSignals:
    """Four workers that make batches of 4 ms, and one of 0.4 s among 25; a step takes 10 ms."""
    signals = {
        "held_share": around(0.4),
        "held_of_waits": around(0.9, spread=0.03),
        "supply": around(2.0, "times"),
        **(order or {}),
    }
    one = workers_busy(
        4,
        wait=0.45,
        worker_busy_share=around(0.3),
        work={"blocked_s": 0.004, "cpu_s": 0.0},
        settings={"in_order": True, **(settings or {})},
        order=OrderSignals(**signals),
        **overrides,
    )
    batches = tuple(
        replace(batch, blocked_s=slow_s) if k % every == every // 2 else batch
        for k, batch in enumerate(one.workload.batches)
    )
    recorded = replace(one.workload, batches=batches)
    return replace(one, workload=recorded, making=replace(one.making, spread=exact(spread, "times the mean")))
