"""Of all settings that a replay can tell of, the fastest that memory allows, and the leanest that is as good as fast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaderdoctor.predict.costs import DEFAULT_PREFETCH, memory_bytes
from loaderdoctor.predict.speedup import WITHIN, replay

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from loaderdoctor.analyse.signals import Workload

    Settings = dict[str, Any]
    Key = tuple[tuple[str, Any], ...]

BEST, LEANEST = "best", "leanest"
OF_MEMORY = 0.8  # of what is free: a loader that takes all of it has the kernel drop the files that it reads
SAME = 0.005  # of the time: no setting is changed for less
PREFETCH_FACTORS = (1, 2, 4, 8)


def choices(workload: Workload, last_workers: int, free_bytes: float | None) -> dict[str, Settings]:
    """Settings that are BEST and LEANEST, as what differs from the script: empty where it is so already.

    `free_bytes` may be taken on top of what the loader takes now; None: not known, and then nothing bounds it.  One setting
    is tried after the other, each on top of what was best of those before.
    """
    times_s: dict[Key, float] = {}
    best: Settings = {}
    for options in _ladder(workload, last_workers):
        for option in options:
            change = _differing(workload, {**best, **option})
            if _fits(workload, change, free_bytes):
                times_s[tuple(sorted(change.items()))] = replay(workload, change).total_s
        near = _within(times_s, SAME)
        shortest = min(near, key=lambda key: (len(key), memory_bytes(workload, dict(key)) or 0))
        best = dict(shortest)
    near = _within(times_s, WITHIN)
    leanest = min(near, key=lambda key: (memory_bytes(workload, dict(key)) or 0, len(key), times_s[key]))
    return {BEST: best, LEANEST: dict(leanest)}


def _within(times_s: Mapping[Key, float], share: float) -> list[Key]:
    return [key for key, time_s in times_s.items() if time_s <= min(times_s.values()) * (1 + share)]


def _ladder(workload: Workload, last_workers: int) -> Iterable[list[Settings]]:
    yield [{"num_workers": workers} for workers in range(last_workers + 1)]
    yield [{}, {"persistent_workers": True}]
    if workload.copy_s > 0:
        yield [{}, {"pin_memory": True}]
    yield [{"prefetch_factor": factor} for factor in PREFETCH_FACTORS]


def _differing(workload: Workload, settings: Settings) -> Settings:
    """Without what the script has already, and without what torch refuses where there are no workers."""
    now = workload.settings
    then = {name: value for name, value in settings.items() if value != getattr(now, name)}
    if then.get("prefetch_factor") == DEFAULT_PREFETCH and now.prefetch_factor is None:
        del then["prefetch_factor"]
    if settings.get("num_workers", now.num_workers) == 0:
        then = {name: value for name, value in then.items() if name in ("num_workers", "pin_memory")}
    return then


def _fits(workload: Workload, change: Settings, free_bytes: float | None) -> bool:
    """What is there already fits."""
    then, now = (memory_bytes(workload, one) or 0 for one in (change, {}))
    return free_bytes is None or then <= now or then - now <= OF_MEMORY * free_bytes
