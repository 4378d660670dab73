"""What a cure changes, in one value that is replayed, priced, patched and joined with others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from loaderdoctor.values import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from loaderdoctor.analyse.signals import BatchWork, Workload

OF_BATCH = ("cpu_s", "disk_s", "blocked_s", "run_queue_s", "send_s", "receive_s")  # parts of making and moving a batch
OF_LOADER = ("epoch_overhead_s", "compute_s")  # the gap before an epoch, and the training's own part of a step

Key = tuple[tuple[tuple[str, Any], ...], tuple[tuple[str, Interval], ...]]


@dataclass(frozen=True)
class Change:
    """Settings that are set, and parts of the work that get shorter or longer.

    `work` has a factor for each part (OF_BATCH, OF_LOADER) that does not stay as recorded: 0.3 where a cure leaves three
    tenths of it, from low to high where that is not known better.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    work: Mapping[str, Interval] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """The same in a form that caches can hold."""
        return tuple(sorted(self.settings.items())), tuple(sorted(self.work.items(), key=lambda part: part[0]))


def joined(changes: Iterable[Change]) -> Change:
    """All of them at once: of two settings the first one's counts, and factors multiply."""
    settings: dict[str, Any] = {}
    work: dict[str, Interval] = {}
    for change in changes:
        settings = {**change.settings, **settings}
        for part, factor in change.work.items():
            now = work.get(part, Interval(1.0, 1.0, 1.0))
            work[part] = Interval(now.low * factor.low, now.best * factor.best, now.high * factor.high)
    return Change(settings, work)


def part_scaled(whole_s: float, part_s: float, left: Interval) -> Interval:
    """The factor of a whole of which a part is scaled: `left` says what is left of the part."""
    share = min(1.0, part_s / whole_s) if whole_s > 0 else 0.0
    low, best, high = (1 - share * (1 - factor) for factor in (left.low, left.best, left.high))
    return Interval(low, best, high)


def worked(workload: Workload, work: Mapping[str, float]) -> Workload:
    """The workload with its parts scaled."""
    if not work:
        return workload
    gaps_s, compute_s = (tuple(value * work.get(name, 1.0) for value in getattr(workload, name)) for name in OF_LOADER)
    batches = tuple(_scaled(batch, work) for batch in workload.batches)
    return replace(workload, batches=batches, epoch_overhead_s=gaps_s, compute_s=compute_s)


def _scaled(batch: BatchWork, work: Mapping[str, float]) -> BatchWork:
    return replace(batch, **{name: getattr(batch, name) * work[name] for name in OF_BATCH if name in work})
