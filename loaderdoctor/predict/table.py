"""The what-if table: every setting of every loader, each changed alone, and the prescriptions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from loaderdoctor.predict.costs import DEFAULT_PREFETCH, memory_bytes
from loaderdoctor.predict.rows import WhatIf
from loaderdoctor.predict.speedup import MOST_WORKERS, fewest_workers, recorded_s, speedup
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from loaderdoctor.analyse.signals import LoaderSettings, LoaderSignals, Signals, Workload

PAST_KNEE = 2  # rows beyond it, to show that nothing more is to be had
LEAST_ROWS = 4  # workers, so that short tables too show how the time falls
PREFETCH_FACTORS = (1, 2, 4, 8)
LEAST_OF_CORES = 0.5  # neighbours take what this job leaves; the scheduler gives a job that asks its fair part back


def workload_of(signals: Signals, loader: LoaderSignals) -> Workload | None:
    """The loader's workload with the cores that one rank of this job can count on; None where it was not recorded."""
    if loader.workload is None or not loader.workload.batches:
        return None
    busy = signals.machine.neighbour_allowed_cpu_share
    free = max(LEAST_OF_CORES, 1 - busy.value) if isinstance(busy, Measured) else 1.0
    return replace(loader.workload, cores=loader.workload.cores * free / max(1, signals.ranks))


def elsewhere_s(signals: Signals, workload: Workload) -> float:
    """Time after warm-up that passes outside this loader's loops."""
    return max(0.0, signals.measured_s - recorded_s(workload))


def what_if(signals: Signals, prescriptions: Iterable[tuple[str, Mapping[str, Any]]] = ()) -> tuple[WhatIf, ...]:
    """Rows for every loader with a workload; `prescriptions` are (loader id, settings) to add."""
    rows = []
    for loader in signals.loaders:
        workload = workload_of(signals, loader)
        if workload is None:
            continue
        other_s = elsewhere_s(signals, workload)
        prescribed = [dict(settings) for id_, settings in prescriptions if id_ == loader.id and settings]
        changes = _changes(workload)
        changes += [settings for settings in prescribed if settings not in changes]
        rows += [
            WhatIf(loader.id, change, speedup(workload, change, other_s), memory_bytes(workload, change))
            for change in changes
        ]
    return tuple(rows)


def _changes(workload: Workload) -> list[dict[str, Any]]:
    """One setting each; torch refuses prefetch_factor and persistent_workers without workers, so they need some."""
    now = workload.settings
    last = min(MOST_WORKERS, max(fewest_workers(workload) + PAST_KNEE, LEAST_ROWS))
    changes: list[dict[str, Any]] = [
        {"num_workers": workers} for workers in range(last + 1) if workers != now.num_workers
    ]
    if now.num_workers > 0:
        changes += [{"prefetch_factor": factor} for factor in PREFETCH_FACTORS if factor != _prefetch(now)]
    changes.append({"pin_memory": not now.pin_memory})
    if now.num_workers > 0:
        changes.append({"persistent_workers": not now.persistent_workers})
    return changes


def _prefetch(settings: LoaderSettings) -> int:
    return settings.prefetch_factor or DEFAULT_PREFETCH
