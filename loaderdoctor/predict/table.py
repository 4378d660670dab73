"""The what-if table: every setting of every loader, each changed alone, the prescriptions, and what is best of all.

The size of a batch has no row: another one trains another network, and what its batch would take is not in the run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from loaderdoctor.predict.change import Change
from loaderdoctor.predict.choose import PREFETCH_FACTORS, choices
from loaderdoctor.predict.costs import DEFAULT_PREFETCH, memory_bytes
from loaderdoctor.predict.rows import WhatIf
from loaderdoctor.predict.speedup import MOST_WORKERS, fewest_workers, recorded_s, speedup
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from loaderdoctor.analyse.signals import DeviceSignals, LoaderSettings, LoaderSignals, Signals, Workload

PAST_KNEE = 2  # rows beyond it, to show that nothing more is to be had
FAR = 2  # and one with that many times as many workers, where it falls again
LEAST_ROWS = 4  # workers, so that short tables too show how the time falls
MOST = 0.5  # batches take one way to the device: pinned and blocking shares are near 0 or near 1


def workload_of(signals: Signals, loader: LoaderSignals) -> Workload | None:
    """The loader's workload as a replay needs it; None where it was not recorded.

    The cores are one rank's part of the job's, and those that other jobs kept busy are told apart; so are the copies from
    the host's own work.  The size of a batch is taken from the copies where no worker sent one.
    """
    workload = loader.workload
    if workload is None or not workload.batches:
        return None
    busy, copied = signals.machine.neighbour_allowed_cpu_share, signals.device.copy_bytes_per_step
    cores = workload.cores / signals.neighbours
    workload = replace(workload, cores=cores, neighbour_cores=cores * busy.value if isinstance(busy, Measured) else 0.0)
    if workload.batch_bytes is None and isinstance(copied, Measured):
        workload = replace(workload, batch_bytes=round(copied.value))
    if workload.device_s and workload.run_ahead_steps is None and _held_by_copies(signals.device):
        workload = replace(workload, run_ahead_steps=1, host_s=_host_without_copies(workload))
    return workload


def _held_by_copies(device: DeviceSignals) -> bool:
    """Whether the host waits in its copies: from ordinary memory always, from pinned memory where they block."""
    pinned, blocking = device.pinned_share, device.blocking_share
    unpinned = isinstance(pinned, Measured) and pinned.value < MOST
    return unpinned or (isinstance(blocking, Measured) and blocking.value >= MOST)


def _host_without_copies(workload: Workload) -> tuple[float, ...]:
    """The host's own part: in a copy that holds it, it waits for the device's last step and for the copy itself."""
    before_s = (0.0, *workload.device_s)
    return tuple(
        max(0.0, host_s - device_s - workload.copy_s)
        for host_s, device_s in zip(workload.host_s, before_s[:-1], strict=True)
    )


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
        chosen = choices(workload, _last(workload), _free_bytes(signals))
        changes = _without_twins([*_changes(workload), *prescribed, *(one for one in chosen.values() if one)])
        rows += [
            WhatIf(
                loader.id,
                change,
                speedup(workload, Change(change), other_s),
                memory_bytes(workload, change),
                tuple(name for name, settings in chosen.items() if settings == change),
            )
            for change in changes
        ]
    return tuple(rows)


def _without_twins(changes: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({tuple(sorted(change.items())): change for change in changes}.values())


def _free_bytes(signals: Signals) -> float | None:
    """What is free of the machine's memory, or of the part where batches lie that workers send, whichever is less."""
    free = (signals.machine.memory_available_bytes, signals.machine.shm_free_bytes)
    return min((value.low for value in free if isinstance(value, Measured)), default=None)


def _last(workload: Workload) -> int:
    """The last row of workers."""
    return min(MOST_WORKERS, max(fewest_workers(workload) + PAST_KNEE, LEAST_ROWS))


def _changes(workload: Workload) -> list[dict[str, Any]]:
    """One setting each; torch refuses prefetch_factor and persistent_workers without workers, so they need some."""
    now = workload.settings
    last = _last(workload)
    counts = [*range(last + 1), min(MOST_WORKERS, FAR * last)]
    changes: list[dict[str, Any]] = [
        {"num_workers": workers} for workers in dict.fromkeys(counts) if workers != now.num_workers
    ]
    if now.num_workers > 0:
        changes += [{"prefetch_factor": factor} for factor in PREFETCH_FACTORS if factor != _prefetch(now)]
    changes.append({"pin_memory": not now.pin_memory})
    if now.num_workers > 0:
        changes.append({"persistent_workers": not now.persistent_workers})
    return changes


def _prefetch(settings: LoaderSettings) -> int:
    return settings.prefetch_factor or DEFAULT_PREFETCH
