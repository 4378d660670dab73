"""Speed over the number of workers: what the replay says, where it bends, and what was measured."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from loaderdoctor.causes.base import FOUND
from loaderdoctor.report import figures
from loaderdoctor.report.model import Mark, Picture, Table
from loaderdoctor.report.sheet import LEFT, LINE, WIDTH, place, rule, text
from loaderdoctor.report.tables import table
from loaderdoctor.values import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from loaderdoctor.analyse.signals import Signals
    from loaderdoctor.causes.base import Diagnosis
    from loaderdoctor.report.words import Words

FEWEST = 3  # points; two are a line, and the table has them
AT_THE_KNEE = 0.98  # of the best speed: what more workers add to that is less than two runs differ by
HALVES_UP_TO = 5.0  # an axis that ends at a half; above, at a round number
TOP, HIGH = 8.0, 110.0
RIGHT = WIDTH - 8


def curve(signals: Signals, diagnosis: Diagnosis, words: Words) -> Picture | None:
    """Of the main loader; None where too few numbers of workers were replayed."""
    loader = signals.main
    if loader is None:
        return None
    now = loader.settings.num_workers
    points = {
        int(row.settings["num_workers"]): row.speedup
        for row in diagnosis.what_if
        if row.loader == loader.id and set(row.settings) == {"num_workers"} and math.isfinite(row.speedup.high)
    }
    if len(points) < FEWEST - 1:
        return None
    points[now] = Interval(1.0, 1.0, 1.0)
    ordered = sorted(points.items())
    knee = next(n for n, speed in ordered if speed.best >= AT_THE_KNEE * max(one.best for _, one in ordered))
    measured = _measured(diagnosis, loader.id)
    highest = max(1.0, *(speed.high for _, speed in ordered), *(one.high for _, one in measured))
    top = math.ceil(2 * highest) / 2 if highest < HALVES_UP_TO else figures.nice_ceiling(highest)
    said = words(
        "curve.sentence",
        now=words.count("worker", now),
        knee=words.count("worker", knee),
        best=figures.times(dict(ordered)[knee].best),
        range=figures.times_range(dict(ordered)[knee]),
    )
    legend = (("compute", words("curve.legend")), *((("ink", words("curve.measured")),) if measured else ()))
    return Picture(
        title=words("curve.title"),
        sentence=said,
        width=WIDTH,
        height=TOP + HIGH + 3 * LINE,
        marks=(*_drawn(ordered, (now, knee), measured, top, words),),
        caption=said,
        legend=legend,
        data=_table(ordered, words),
    )


def _measured(diagnosis: Diagnosis, loader: str) -> list[tuple[int, Interval]]:
    """Runs that were made with another number of workers."""
    return [
        (int(one.prescription.settings["num_workers"]), one.gain.speedup)
        for one in diagnosis.findings
        if one.status == FOUND and one.loader == loader and one.promised is not None and one.gain is not None
        if one.prescription is not None and "num_workers" in one.prescription.settings
    ]


def _drawn(
    ordered: Sequence[tuple[int, Interval]],
    marked: tuple[int, int],
    measured: Sequence[tuple[int, Interval]],
    top: float,
    words: Words,
) -> Iterator[Mark]:
    low, high = ordered[0][0], max(ordered[-1][0], *(n for n, _ in measured), ordered[0][0] + 1)

    def x(workers: float) -> float:
        return place(workers, low, high, LEFT, RIGHT - 20)

    def y(speed: float) -> float:
        return place(speed, 0, top, TOP + HIGH, TOP)

    for speed_at in (0.0, 1.0, top):
        yield rule(LEFT, y(speed_at), RIGHT, y(speed_at))
        yield text(LEFT - 6, y(speed_at) + 3, f"{figures.significant(speed_at)}{figures.TIMES}", anchor="end")
    band = [(x(n), y(speed.high)) for n, speed in ordered] + [(x(n), y(speed.low)) for n, speed in reversed(ordered)]
    yield Mark("area", "band", tuple(number for corner in band for number in corner))
    yield Mark("line", "compute", tuple(number for n, speed in ordered for number in (x(n), y(speed.best))))
    now, knee = marked
    for n, speed in ordered:
        yield Mark("dot", "wait" if n == now else "compute", (x(n), y(speed.best)))
        yield text(x(n), TOP + HIGH + LINE, str(n), anchor="middle")
    names = {now: words("curve.now"), knee: words("curve.knee")}
    for n, name in names.items() if now != knee else ((now, words("curve.now-knee")),):
        yield text(x(n), TOP + HIGH + 2 * LINE, name, "ink", "start" if n == low else "middle")
    for n, speed in measured:
        yield Mark("line", "ink", (x(n), y(speed.low), x(n), y(speed.high)))
        yield Mark("dot", "ink", (x(n), y(speed.best)))


def _table(ordered: Sequence[tuple[int, Interval]], words: Words) -> Table:
    columns = {"worker-count": True, "speedup": True, "range": True}
    rows = tuple((str(n), figures.times(one.best), figures.times_range(one)) for n, one in ordered)
    return table(words("curve.title"), columns, rows, words)
