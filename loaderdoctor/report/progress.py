"""The line that a terminal gets now and then while the script runs."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from loaderdoctor.probe.stop import with_warm_up
from loaderdoctor.report import figures
from loaderdoctor.report.words import Words

if TYPE_CHECKING:
    from loaderdoctor.record.glance import Glance

NS = 1e9
WIDE = ("W", "F")


def progress(seen: Glance, now_ns: int, *, steps: int | None, seconds: float | None, lang: str, width: int) -> str:
    """Steps, waiting and the time that is left of --steps or --seconds, as much of it as fits into the width."""
    words = Words(lang)
    made = words("live.steps", steps=words.count("step", seen.steps))
    pieces = [made]
    if seen.wait_share is not None:
        key = "live.waiting-device" if seen.on_device else "live.waiting"
        pieces.append(words(key, share=figures.share(min(1.0, seen.wait_share))))
    left_s = _left_s(seen, now_ns, steps, seconds)
    if left_s is not None:
        pieces.append(words("live.left", time=figures.seconds(left_s, 2)))
    while len(pieces) > 1 and _columns(", ".join(pieces)) > width:
        pieces.pop()
    line = ", ".join(pieces)
    return line if _columns(line) <= width else ""


def _columns(text: str) -> int:
    """How wide a terminal shows it: an ideograph takes two columns."""
    return sum(2 if unicodedata.east_asian_width(mark) in WIDE else 1 for mark in text)


def first_report(path: str, lang: str, width: int) -> str:
    """That there is a report by now, and where; the path alone where both do not fit."""
    line = Words(lang)("live.report", path=path)
    return line if _columns(line) <= width else path


def _left_s(seen: Glance, now_ns: int, steps: int | None, seconds: float | None) -> float | None:
    """Until the first of the two ends the script; None where neither will, or nothing tells when."""
    left = []
    if seconds is not None:
        left.append(max(0.0, seconds - (now_ns - seen.first_ns) / NS))
    if steps is not None and seen.steps and seen.last_ns > seen.first_ns:
        missing = max(0, with_warm_up(steps) - seen.steps)
        left.append(missing * (seen.last_ns - seen.first_ns) / NS / seen.steps)
    return min(left, default=None)
