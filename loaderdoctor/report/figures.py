"""Numbers as people read them: rounded to what is known, with their unit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.report.words import Words
    from loaderdoctor.values import Interval, Value

ABSENT = "\N{EN DASH}"
TIMES = "\N{MULTIPLICATION SIGN}"
DASH = "\N{EN DASH}"
_SECONDS = ((3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_LONGEST_IN_SECONDS = 120.0  # "90 s" reads better than "1.5 min"
_BYTES = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))
_SMALLEST_SHARE = 0.001  # smaller ones are noise of the clock


def significant(value: float, digits: int = 3) -> str:
    """Round to significant digits, never in powers of ten, never with more than the value carries."""
    if not value:
        return "0"
    if not math.isfinite(value):
        return ABSENT
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{min(decimals, 6)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def share(value: float) -> str:
    """0.583 -> "58 %"; one decimal below ten percent."""
    if not math.isfinite(value):
        return ABSENT
    if 0 < value < _SMALLEST_SHARE:
        return "< 0.1 %"
    return f"{_percent(value)} %"


def share_range(interval: Interval) -> str:
    """Both ends with one unit: "56-60 %"."""
    return f"{_percent(interval.low)}{DASH}{_percent(interval.high)} %"


def _percent(value: float) -> str:
    if not math.isfinite(value):
        return ABSENT
    percent = 100 * value
    return f"{percent:.1f}".removesuffix(".0") if percent < 9.95 else f"{percent:.0f}"  # noqa: PLR2004 - rounds to 10


def seconds(value: float, digits: int = 3) -> str:
    """A duration in the unit that fits: "193 ms", "1.25 s", "3.2 min"."""
    if not math.isfinite(value):
        return ABSENT
    factor, unit = _unit_of_seconds(value)
    return f"{significant(value / factor, digits)} {unit}"


def seconds_range(low: float, high: float) -> str:
    """Both ends in the unit of the higher: "77-101 ms"."""
    factor, unit = _unit_of_seconds(high)
    return f"{significant(low / factor)}{DASH}{significant(high / factor)} {unit}"


def _unit_of_seconds(value: float) -> tuple[float, str]:
    if 1 <= value < _LONGEST_IN_SECONDS:
        return 1.0, "s"
    return next((entry for entry in _SECONDS if value >= entry[0]), _SECONDS[-1]) if value > 0 else (1.0, "s")


def size(value: float) -> str:
    """Bytes in the unit that fits: "1.5 GiB"."""
    if not math.isfinite(value):
        return ABSENT
    factor, unit = next((entry for entry in _BYTES if abs(value) >= entry[0]), _BYTES[-1])
    return f"{significant(value / factor)} {unit}"


def times(value: float) -> str:
    """A factor: "2.3x" with the sign for it; two decimals where it is close to one."""
    return f"{_factor(value)}{TIMES}"


def times_range(interval: Interval) -> str:
    """Both ends of a factor."""
    return f"{_factor(interval.low)}{DASH}{_factor(interval.high)}{TIMES}"


def _factor(value: float) -> str:
    if not math.isfinite(value):
        return ABSENT
    if value >= 10:  # noqa: PLR2004 - two digits say enough
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 1.3 else f"{value:.2f}"  # noqa: PLR2004 - below, a tenth is a third of the gain


def quantity(value: float, unit: str, words: Words | None = None) -> str:
    """A number in any of the units that signals and causes use, in the language of `words`."""
    if unit == "share" or unit.startswith("share "):
        return share(value)
    if unit == "s":
        return seconds(value)
    if unit == "bytes":
        return size(value)
    if unit in {"bytes/s", "bytes per second"}:
        return f"{size(value)}/s"
    if unit == "times":
        return times(value)
    return f"{significant(value)} {words.said(unit) if words else unit}".rstrip()


def cell(value: Value) -> str:
    """A measured value for a table; a dash where it is missing."""
    return quantity(value.value, value.unit) if isinstance(value, Measured) else ABSENT


def nice_ceiling(value: float) -> float:
    """The least of 1, 2, 2.5, 5 and 10 times a power of ten that is not below the value."""
    power = 10.0 ** math.floor(math.log10(value)) if value > 0 else 1.0
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= value)
