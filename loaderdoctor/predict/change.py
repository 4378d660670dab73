"""What a cure changes, in one value that is replayed, priced, patched and joined with others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from loaderdoctor.values import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from loaderdoctor.analyse.signals import BatchWork, Workload

OF_BATCH = ("cpu_s", "disk_s", "blocked_s", "run_queue_s", "send_s", "receive_s", "choose_s")  # parts of a batch's way
# Limits that code sets: a loader for each epoch, a stream for few of the workers, work before the first sample of a pass, and
# a buffer that is filled before the first sample, from which the last ones come for nothing.
REBUILT, SHARDS, BEFORE_FIRST, BUFFER = "rebuilt", "shards", "before-first", "buffer"
OF_LOADER = ("epoch_overhead_s", "compute_s")  # the gap before an epoch, and the training's own part of a step

Key = tuple[tuple[tuple[str, Any], ...], tuple[tuple[str, Interval], ...], tuple[str, ...]]


@dataclass(frozen=True)
class Change:
    """Settings that are set, and parts of the work that get shorter or longer.

    `work` has a factor for each part (OF_BATCH, OF_LOADER) that does not stay as recorded: 0.3 where a cure leaves three
    tenths of it, from low to high where that is not known better.  `lifts` names the limits (REBUILT, ...) that it takes
    away.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    work: Mapping[str, Interval] = field(default_factory=dict)
    lifts: tuple[str, ...] = ()

    @property
    def key(self) -> Key:
        """The same in a form that caches can hold."""
        work = tuple(sorted(self.work.items(), key=lambda part: part[0]))
        return tuple(sorted(self.settings.items())), work, tuple(sorted(self.lifts))


def joined(changes: Iterable[Change]) -> Change:
    """All of them at once: of two settings the first one's counts, and factors multiply."""
    settings: dict[str, Any] = {}
    work: dict[str, Interval] = {}
    lifts: set[str] = set()
    for change in changes:
        lifts.update(change.lifts)
        settings = {**change.settings, **settings}
        for part, factor in change.work.items():
            now = work.get(part, Interval(1.0, 1.0, 1.0))
            work[part] = Interval(now.low * factor.low, now.best * factor.best, now.high * factor.high)
    return Change(settings, work, tuple(sorted(lifts)))


def part_scaled(whole_s: float, part_s: float, left: Interval) -> Interval:
    """The factor of a whole of which a part is scaled: `left` says what is left of the part."""
    share = min(1.0, part_s / whole_s) if whole_s > 0 else 0.0
    low, best, high = (1 - share * (1 - factor) for factor in (left.low, left.best, left.high))
    return Interval(low, best, high)


def worked(workload: Workload, work: Mapping[str, float], lifts: tuple[str, ...] = ()) -> Workload:
    """The workload with its parts scaled, and without the limits that are lifted."""
    if lifts:
        workload = replace(workload, lifted=lifts)
    if not work:
        return workload
    gaps_s, compute_s = (tuple(value * work.get(name, 1.0) for value in getattr(workload, name)) for name in OF_LOADER)
    batches = tuple(_scaled(batch, work) for batch in workload.batches)
    return replace(workload, batches=batches, epoch_overhead_s=gaps_s, compute_s=compute_s)


def _scaled(batch: BatchWork, work: Mapping[str, float]) -> BatchWork:
    parts = {name: getattr(batch, name) * work[name] for name in OF_BATCH if name in work}
    if "receive_s" in parts:
        parts["receive_wait_s"] = batch.receive_wait_s * work["receive_s"]
    return replace(batch, **parts)
