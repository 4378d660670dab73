"""Sampled counters and sizes: their differences from row to row, and what they add up to with an interval."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from loaderdoctor.analyse import stats
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Row = Mapping[str, Any]
    Window = tuple[int, int]  # ns of the parent's clock

NANOSECONDS = 1e-9


class Change(NamedTuple):
    """What a counter grew by, over what: seconds, or another counter's growth."""

    amount: float
    over: float


def within(rows: Sequence[Row], window: Window | None) -> list[Row]:
    """Rows of a window; where fewer than two lie in it, with the nearest one before and after."""
    if window is None:
        return list(rows)
    begin_ns, end_ns = window
    inside = [row for row in rows if begin_ns <= row["at_ns"] <= end_ns]
    if len(inside) > 1:
        return inside
    before = [row for row in rows if row["at_ns"] < begin_ns][-1:]
    after = [row for row in rows if row["at_ns"] > end_ns][:1]
    return [*before, *inside, *after]


def changes(
    rows: Sequence[Row], amount: Callable[[Row], float | None], over: Callable[[Row], float | None] | None = None
) -> list[Change]:
    """Growth from row to row, over seconds or over another counter; rows that lack it, and counters that restart, are left out."""
    found = []
    known = [row for row in rows if amount(row) is not None and (over is None or over(row) is not None)]
    for earlier, later in pairwise(known):
        grown = (amount(later) or 0.0) - (amount(earlier) or 0.0)
        if over is None:
            base = (later["at_ns"] - earlier["at_ns"]) * NANOSECONDS
        else:
            base = (over(later) or 0.0) - (over(earlier) or 0.0)
        if grown >= 0 and base >= 0:
            found.append(Change(grown, base))
    return found


def ratio(
    found: Sequence[Change], unit: str, why_missing: Missing, *, scale: float = 1.0, highest: float = math.inf
) -> Value:
    """Sum of the amounts over sum of the bases, times `scale`, with its 95 % interval.

    Tick rounding may carry a share past its limits; it is held between 0 and `highest`.  Missing where the bases add up
    to nothing.
    """
    if sum(change.over for change in found) <= 0:
        return why_missing
    plain = stats.ratio([change.amount for change in found], [change.over for change in found], unit)

    def held(value: float) -> float:
        return min(max(value * scale, 0.0), highest)

    return Measured(held(plain.value), held(plain.low), held(plain.high), plain.n, unit)


def sizes(rows: Sequence[Row], size: Callable[[Row], float | None], unit: str, why_missing: Missing) -> Value:
    """Median of a size, between its lowest and its highest; Missing where no row has it."""
    values = sorted(value for row in rows if (value := size(row)) is not None)
    if not values:
        return why_missing
    return Measured(values[len(values) // 2], values[0], values[-1], len(values), unit)


def proportion(count: float, total: float, why_missing: Missing) -> Value:
    """Share of `total` observations that were so, with its Wilson interval; Missing without observations."""
    if total <= 0:
        return why_missing
    return stats.proportion(count / total, total)


def key(name: str) -> Callable[[Row], float | None]:
    """The number under a name, None where the row has none."""

    def get(row: Row) -> float | None:
        value = row.get(name)
        return float(value) if isinstance(value, int | float) else None

    return get
