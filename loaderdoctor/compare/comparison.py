"""Two runs beside each other: their numbers, what changed, and one verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from loaderdoctor.compare.changes import Change, changes, gone_and_new
from loaderdoctor.compare.gain import Speedup, speedup
from loaderdoctor.compare.ground import Difference, differences
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from loaderdoctor.pipeline import Diagnosed

FASTER, SLOWER, NO_DIFFERENCE, NOT_COMPARABLE = "faster", "slower", "no-difference", "not-comparable"
NS = 1_000_000_000
_NOT_ENDED = Missing("run-not-ended", "Nobody saw the run end.")


@dataclass(frozen=True)
class Row:
    """A number of both runs."""

    name: str
    before: Value
    after: Value


@dataclass(frozen=True)
class Comparison:
    """`speedup` is the old time after warm-up over the new one, a step of training; None where a ratio would say nothing."""

    before: str  # ids of the runs
    after: str
    rows: tuple[Row, ...]
    speedup: Speedup | None
    differences: tuple[Difference, ...]
    changes: tuple[Change, ...]
    gone: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """faster|slower|no-difference|not-comparable, of the run after."""
        if self.speedup is None:
            return NOT_COMPARABLE
        if self.speedup.interval.low > 1:
            return FASTER
        return SLOWER if self.speedup.interval.high < 1 else NO_DIFFERENCE


def compare(before: Diagnosed, after: Diagnosed) -> Comparison:
    """The runs as they were diagnosed."""
    found = differences(before, after)
    is_comparable = not any(one.forbids for one in found)
    gone, new = gone_and_new(before.diagnosis, after.diagnosis)
    return Comparison(
        before=before.run.meta.id,
        after=after.run.meta.id,
        rows=_rows(before, after),
        speedup=speedup(before.signals.times, after.signals.times) if is_comparable else None,
        differences=found,
        changes=changes(before, after),
        gone=gone,
        new=new,
    )


def _rows(before: Diagnosed, after: Diagnosed) -> tuple[Row, ...]:
    old, new = before.signals, after.signals
    return (
        Row("samples_per_s", old.steps.samples_per_s, new.steps.samples_per_s),
        Row("step_s", old.steps.median_s, new.steps.median_s),
        Row("starved_share", old.starved_share, new.starved_share),
        Row("wall_s", _wall(before), _wall(after)),
    )


def _wall(done: Diagnosed) -> Value:
    """Of the whole run, with starts and all; one run has no interval of it."""
    meta = done.run.meta
    return _NOT_ENDED if meta.ended_ns is None else Measured.exact((meta.ended_ns - meta.started_ns) / NS, "s")
