"""What the machine did meanwhile: CPUs, disk, memory and GPU over the whole run, on one axis of time."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from loaderdoctor.report import figures
from loaderdoctor.report.model import Mark, Picture, Table
from loaderdoctor.report.sheet import LEFT, LINE, WIDTH, place, rule, text
from loaderdoctor.report.tables import table
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from loaderdoctor.analyse.signals import Signals
    from loaderdoctor.record.run import Run
    from loaderdoctor.report.words import Words

    Row = Mapping[str, Any]
    Point = tuple[float, float]  # seconds since the start, value

MOST_POINTS = 120  # of a line; more are not told apart on paper
FEWEST_ROWS = 3  # of samples: two make one point
HIGH, BETWEEN = 30.0, 4.0
HEAD = 9.0  # of a row, for what its top means
TABLE_ROWS = 12
NS = 1e9


@dataclass(frozen=True)
class _Series:
    """One line; `absent` says why there is none."""

    key: str
    points: tuple[Point, ...]
    unit: str
    top: float | None = None  # the most that there can be, where that is known
    absent: str = ""


def watched(run: Run, signals: Signals, words: Words) -> Picture | None:
    """A row for each kind of thing; None where nothing was sampled at all."""
    if not any(len(samples.rows) >= FEWEST_ROWS for samples in run.samples.values()):
        return None
    series = tuple(_all(run, signals, words))
    length_s = max((at for one in series for at, _ in one.points), default=0.0)
    marks: list[Mark] = []
    for index, one in enumerate(series):
        marks += _row(one, index * (HIGH + BETWEEN) + BETWEEN, length_s, words)
    y = len(series) * (HIGH + BETWEEN) + BETWEEN
    for part, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        x = LEFT + part * (WIDTH - 2 - LEFT)
        marks += [text(x, y + LINE, figures.seconds(part * length_s) if part else "0", anchor=anchor)]
    said = words("watched.sentence", rows=words.listed(_in_words(one, words) for one in series if one.points))
    return Picture(
        title=words("watched.title"),
        sentence=said,
        width=WIDTH,
        height=y + LINE + 4,
        marks=tuple(marks),
        caption=words("watched.caption", n=len(run.rows("machine"))),
        data=_table(series, length_s, words),
    )


def _all(run: Run, signals: Signals, words: Words) -> Iterator[_Series]:
    started = run.meta.started_ns
    machine, processes, disks, gpus = (run.rows(name) for name in ("machine", "processes", "disks", "gpu"))
    cpus = signals.machine.cpus_allowed
    most = cpus.value if isinstance(cpus, Measured) else None
    yield _series("cpu-job", _rates(processes, _tree_cpu_s, started), "cores", words, top=most)
    yield _series("cpu-all", _rates(machine, _plain("busy_cpu_s"), started), "cores", words)
    device = signals.disk.device if signals.disk else None
    if device is None:
        yield _series("disk-job", _rates(processes, _read_bytes, started), "bytes/s", words)
    else:
        yield _series(
            "disk", _rates(disks, lambda row: row["disks"].get(device, {}).get("read_bytes"), started), "bytes/s", words
        )
    yield _series("memory-job", _values(processes, _rss_bytes, started), "bytes", words)
    yield _series("memory", _values(machine, _plain("memory_available_bytes"), started), "bytes", words)
    busy = _values(gpus, _gpu("utilisation_share"), started)
    yield _series("gpu", busy, "share", words, top=1.0, absent="watched.no-gpu" if not gpus else "watched.no-rows")


def _series(
    key: str,
    points: Sequence[Point],
    unit: str,
    words: Words,
    *,
    top: float | None = None,
    absent: str = "watched.no-rows",
) -> _Series:
    if len(points) < FEWEST_ROWS - 1:
        return _Series(key, (), unit, absent=words(absent))
    size = -(-len(points) // MOST_POINTS)
    groups = [points[start : start + size] for start in range(0, len(points), size)]
    means = [
        (statistics.fmean(at for at, _ in group), statistics.fmean(value for _, value in group)) for group in groups
    ]
    return _Series(key, tuple(means), unit, top)


def _plain(name: str) -> Callable[[Row], float | None]:
    return lambda row: row.get(name)


def _gpu(name: str) -> Callable[[Row], float | None]:
    def mean(row: Row) -> float | None:
        known = [gpu[name] for gpu in row.get("gpus", ()) if gpu.get(name) is not None]
        return statistics.fmean(known) if known else None

    return mean


def _tree_cpu_s(row: Row) -> float:
    return float(sum(one.get("cpu_s", 0.0) + one.get("reaped_cpu_s", 0.0) for one in row.get("processes", ())))


def _read_bytes(row: Row) -> float | None:
    known = [one["read_bytes"] for one in row.get("processes", ()) if one.get("read_bytes") is not None]
    return float(sum(known)) if known else None


def _rss_bytes(row: Row) -> float | None:
    known = [one["rss_bytes"] for one in row.get("processes", ()) if one.get("rss_bytes") is not None]
    return float(sum(known)) if known else None


def _values(rows: Sequence[Row], value: Callable[[Row], float | None], started_ns: int) -> list[Point]:
    found = ((row["at_ns"], value(row)) for row in rows)
    return [((at - started_ns) / NS, float(one)) for at, one in found if one is not None]


def _rates(rows: Sequence[Row], total: Callable[[Row], float | None], started_ns: int) -> list[Point]:
    """Growth between two rows, over the time between them; a process that ends takes its count along."""
    known = _values(rows, total, started_ns)
    return [(later, max(0.0, (b - a) / (later - at))) for (at, a), (later, b) in pairwise(known) if later > at]


def _row(one: _Series, y: float, length_s: float, words: Words) -> Iterator[Mark]:
    base = y + HIGH
    yield text(LEFT - 6, y + HIGH / 2 + 3, words(f"watched.{one.key}"), anchor="end")
    yield rule(LEFT, base, WIDTH - 2, base)
    if not one.points:
        yield text(LEFT, y + HIGH / 2 + 3, one.absent)
        return
    top = figures.nice_ceiling(max(one.top or 0.0, *(value for _, value in one.points))) or 1.0
    if one.unit == "bytes":
        top = max(value for _, value in one.points) * 1.1 or 1.0
    corners = [
        number
        for at, value in one.points
        for number in (place(at, 0.0, length_s, LEFT, WIDTH - 2), place(value, 0.0, top, base, y + HEAD))
    ]
    yield Mark("area", "band", (corners[0], base, *corners, corners[-2], base))
    yield Mark("line", "compute", tuple(corners))
    yield text(WIDTH - 2, y + HEAD - 2, words("watched.top", top=figures.quantity(top, one.unit, words)), anchor="end")


def _in_words(one: _Series, words: Words) -> str:
    mean = figures.quantity(statistics.fmean(value for _, value in one.points), one.unit, words)
    return words("watched.mean", what=words(f"watched.{one.key}"), mean=mean)


def _table(series: Sequence[_Series], length_s: float, words: Words) -> Table:
    """Means of as many stretches of the run as a table has rows."""
    shown = [one for one in series if one.points]
    columns = {"time": False} | {f"watched.{one.key}": True for one in shown}
    bounds = [length_s * k / TABLE_ROWS for k in range(TABLE_ROWS + 1)]
    rows = tuple(
        (
            f"{figures.seconds(start) if start else '0'}{figures.DASH}{figures.seconds(end)}",
            *(_mean_between(one, start, end, words) for one in shown),
        )
        for start, end in pairwise(bounds)
    )
    return table(words("watched.title"), columns, rows, words)


def _mean_between(one: _Series, start: float, end: float, words: Words) -> str:
    inside = [value for at, value in one.points if start <= at < end or at == end]
    return figures.quantity(statistics.fmean(inside), one.unit, words) if inside else figures.ABSENT
