"""What pictures are drawn with: a sheet of one width, scales, and marks in few pieces."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from loaderdoctor.report.model import Mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WIDTH = 640.0
LEFT = 96.0  # where the drawing begins, behind the names of its rows
LINE = 11.0  # from one line of text to the next
CHARACTER = 5.3  # of a text of the common size
FIRST_SQUARE = 0x2E80  # from here on letters are Chinese, Japanese or Korean

Bar = tuple[float, float, float, float]


def text(x: float, y: float, said: str, kind: str = "muted", anchor: str = "start") -> Mark:
    """A line of text."""
    return Mark("text", kind, (x, y), said, anchor)


def bars(kind: str, found: Iterable[Bar]) -> tuple[Mark, ...]:
    """All bars of a kind in one mark; none where there are none."""
    flat = tuple(number for bar in found for number in bar)
    return (Mark("bars", kind, flat),) if flat else ()


def rule(x1: float, y1: float, x2: float, y2: float) -> Mark:
    """A thin line of an axis."""
    return Mark("line", "rule", (x1, y1, x2, y2))


def place(value: float, low: float, high: float, start: float, end: float) -> float:
    """Where a value lies from start to end; at the nearer one where it lies outside."""
    part = (value - low) / (high - low) if high > low and math.isfinite(value) else 0.0
    return start + (end - start) * min(1.0, max(0.0, part))


def shortened(said: str, width: float) -> str:
    """The text as far as it fits."""
    said, whole = said[: 1 + int(width / CHARACTER)], said  # of a text of megabytes no more than may fit is looked at
    if said == whole and width_of(said) <= width:
        return said
    while said and width_of(said) > width - CHARACTER:
        said = said[:-1]
    return f"{said}…"


def width_of(said: str) -> float:
    """About how wide a text is; letters that fill a square are as wide as two others."""
    return CHARACTER * sum(2 if ord(letter) >= FIRST_SQUARE else 1 for letter in said)


def stairs(points: Sequence[tuple[float, float]], end: float) -> tuple[float, ...]:
    """A line that keeps each height until the next point."""
    corners: list[float] = []
    for (x, y), (after, _) in zip(points, [*points[1:], (end, 0.0)], strict=True):
        corners += [x, y, after, y]
    return tuple(corners)
