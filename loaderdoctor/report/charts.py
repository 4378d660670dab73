"""The numbers behind the pictures on the first page; where they are drawn is the templates' affair."""

from __future__ import annotations

import math
import statistics
from itertools import pairwise
from typing import TYPE_CHECKING

from loaderdoctor.report import figures
from loaderdoctor.report.model import IntervalChart, Part, Proof, SplitBar, StepsChart, Table
from loaderdoctor.report.spells import spells_chart
from loaderdoctor.report.tables import table
from loaderdoctor.values import Measured, value_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from loaderdoctor.analyse.signals import Signals, StepSignals
    from loaderdoctor.report.parts import Parts
    from loaderdoctor.report.words import Words
    from loaderdoctor.values import Interval

MOST_MARKS = 300  # more are neither told apart on paper nor drawn quickly
TABLE_ROWS = 12  # the table behind the steps chart shows as many means
CUT_ABOVE = 4.0  # bars longer than so many medians would flatten all others
_SERIES = ("wait", "copy", "compute")
_FROM_BELOW = ("compute", "copy", "wait")


def proof(signals: Signals, words: Words, parts: Parts) -> Proof:
    """The charts, each where its numbers are there."""
    split = parts.made("split", lambda: split_bar(signals.steps, words), None)
    steps = parts.made("steps", lambda: steps_chart(signals.steps, words), None)
    spells = parts.made("spells", lambda: spells_chart(signals, words), None)
    absent = "" if split or steps else words("proof.absent")
    return Proof(words("proof.title"), split, steps, absent, spells)


def split_bar(steps: StepSignals, words: Words) -> SplitBar | None:
    """Where the median step goes."""
    shares = {
        "wait": value_or_none(steps.data_wait_share),
        "copy": value_or_none(steps.h2d_share),
        "compute": value_or_none(steps.compute_share),
        "other": value_or_none(steps.other_share),
    }
    if not isinstance(steps.median_s, Measured):
        return None
    median_s = steps.median_s.value
    rows = tuple(
        (kind, words(f"part.{kind}"), figures.seconds(share * median_s), figures.share(share), share)
        for kind, share in shares.items()
        if share and math.isfinite(share)
    )
    if not rows:
        return None
    parts = tuple(Part(kind, f"{label} {length}", share) for kind, label, length, _, share in rows)
    listed = words.listed(f"{label} {length}" for _, label, length, *_ in rows)
    columns = {"part": False, "time": True, "share": True}
    return SplitBar(
        sentence=words("split.sentence", total=figures.seconds(median_s), parts=listed),
        parts=parts,
        total=figures.seconds(median_s),
        caption=words("split.caption", parts=listed),
        data=table(words("split.data"), columns, [row[1:4] for row in rows], words),
    )


def steps_chart(steps: StepSignals, words: Words) -> StepsChart | None:
    """The steady steps in order; means of neighbours where there are more than can be drawn."""
    known = [step for step in steps.series if all(map(math.isfinite, step))]
    kinds = [kind for kind in _FROM_BELOW if any(step[_SERIES.index(kind)] > 0 for step in known)]
    if not kinds:
        return None
    series = [tuple(step[_SERIES.index(kind)] for kind in kinds) for step in known]
    bars = means(series, MOST_MARKS // len(kinds))
    longest_s = max(sum(bar) for bar in bars)
    top_s = figures.nice_ceiling(min(longest_s, CUT_ABOVE * statistics.median(sum(bar) for bar in bars)))
    return StepsChart(
        sentence=_steps_in_words(series, words),
        kinds=tuple(kinds),
        bars=tuple(tuple(part / top_s for part in _cut(bar, top_s)) for bar in bars),
        ticks=tuple((part, figures.seconds(part * top_s) if part else "0") for part in (0.0, 0.5, 1.0)),
        first=words("steps.step", n=1),
        last=words("steps.step", n=f"{len(series):,}"),
        caption=" ".join(_steps_caption(len(series), len(bars), longest_s, top_s, words)),
        legend=tuple((kind, words(f"legend.{kind}")) for kind in reversed(kinds)),
        data=_steps_table(series, kinds, words),
    )


def _steps_in_words(series: Sequence[tuple[float, ...]], words: Words) -> str:
    """Whether it is steady or passes: the means of both halves."""
    lengths = [sum(step) for step in series]
    half = (len(lengths) + 1) // 2
    first, last = statistics.fmean(lengths[:half]), statistics.fmean(lengths[-half:])
    count = words.count("step", len(series))
    return words("steps.sentence", count=count, first=figures.seconds(first), last=figures.seconds(last))


def _steps_caption(steps: int, bars: int, longest_s: float, top_s: float, words: Words) -> Iterator[str]:
    yield words("steps.caption", count=words.count("step", steps))
    if bars < steps:
        yield words("steps.means", n=figures.significant(steps / bars, 2))
    if longest_s > top_s:
        yield words("steps.cut", longest=figures.seconds(longest_s))


def means(series: Sequence[tuple[float, ...]], most: int) -> list[tuple[float, ...]]:
    """Means of neighbouring steps, as few together as make no more than `most` bars of them."""
    count = min(len(series), most)
    bounds = [len(series) * k // count for k in range(count + 1)]
    groups = (series[start:end] for start, end in pairwise(bounds))
    return [tuple(statistics.fmean(column) for column in zip(*group, strict=True)) for group in groups]


def _cut(bar: Sequence[float], top_s: float) -> tuple[float, ...]:
    """End a bar at the top of the axis."""
    cut, room = [], top_s
    for part in bar:
        cut.append(min(part, room))
        room -= cut[-1]
    return tuple(cut)


def _steps_table(series: Sequence[tuple[float, ...]], kinds: Sequence[str], words: Words) -> Table:
    groups = means(series, TABLE_ROWS)
    bounds = [len(series) * k // len(groups) for k in range(len(groups) + 1)]
    columns = {"steps": False} | {f"legend.{kind}": True for kind in kinds}
    rows = tuple(
        (f"{start + 1:,}{figures.DASH}{end:,}", *(figures.seconds(part) for part in group))
        for (start, end), group in zip(pairwise(bounds), groups, strict=True)
    )
    return table(words("steps.data"), columns, rows, words)


def interval_chart(speedup: Interval, basis: str, words: Words, measured: Interval | None = None) -> IntervalChart:
    """A speed-up on an axis that starts at 1, or below where the interval does; with what a treated run gained."""
    lowest, highest = min(speedup.low, (measured or speedup).low), max(speedup.high, (measured or speedup).high)
    start = min(1.0, lowest // 0.25 * 0.25)
    top = start + figures.nice_ceiling(max(highest - start, 0.1))
    ticks = [start + (top - start) * part for part in (0.0, 0.5, 1.0)]
    numbers = {"best": figures.times(speedup.best), "range": figures.times_range(speedup)}
    return IntervalChart(
        sentence=words("gain.sentence", **numbers),
        low=(speedup.low - start) / (top - start),
        best=(speedup.best - start) / (top - start),
        high=(speedup.high - start) / (top - start),
        ticks=tuple(((tick - start) / (top - start), f"{figures.significant(tick)}{figures.TIMES}") for tick in ticks),
        caption=words(f"gain.{basis}", **numbers),
        measured=None if measured is None else (measured.best - start) / (top - start),
    )
