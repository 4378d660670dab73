"""A typical stretch of the run, batch by batch: who made which when, what lay ready, and when the training took it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from loaderdoctor.analyse.frames import table
from loaderdoctor.analyse.ranks import ranks_of
from loaderdoctor.analyse.timeline import timeline_of
from loaderdoctor.analyse.trace import before_windows
from loaderdoctor.analyse.work import made_of
from loaderdoctor.report import figures
from loaderdoctor.report.model import Column, Mark, Picture, Table
from loaderdoctor.report.sheet import LEFT, LINE, WIDTH, Bar, bars, place, rule, shortened, stairs, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pandas as pd

    from loaderdoctor.analyse.ranks import Rank
    from loaderdoctor.analyse.signals import Signals
    from loaderdoctor.analyse.timeline import Timeline
    from loaderdoctor.record.run import Run
    from loaderdoctor.report.words import Words

STEPS_SHOWN = 12  # about as many batches as one follows with the eye
SHORTEST_NS, LONGEST_NS = 100_000_000, 30_000_000_000
MOST_STARTS = 300  # places that are looked at for a typical stretch
MOST_LANES = 12  # workers drawn; with more, a lane is thinner than its letters
MOST_BARS = 120  # of a lane's kind
MOST_ROWS = 25
LANE, BAR = 15.0, 10.0
DEPTH = 40.0  # height of what lay ready
NS = 1e9


@dataclass(frozen=True)
class Stretch:
    """What is drawn: one rank's records from one time to another."""

    rank: Rank
    timeline: Timeline
    made: pd.DataFrame
    begin_ns: int
    end_ns: int
    wait_share: float
    ranks: int = 1


def _rank_of(ranks: Sequence[Rank], signals: Signals) -> Rank:
    """The one that the report is about: whose workers its main loader has, else the one that the others wait for."""
    workers = {worker.pid for worker in signals.main.workers} if signals.main else set()
    its_own = (rank for rank in ranks if any(life.pid in workers for life in rank.workers))
    last = signals.job.last_rank
    return next(its_own, ranks[last if last is not None and 0 <= last < len(ranks) else 0])


def stretch_of(run: Run, signals: Signals) -> Stretch | None:
    """The stretch whose share of waiting is nearest to that of all steps; None where no step ended after warm-up."""
    ranks, _ = ranks_of(before_windows(run))
    if not ranks:
        return None
    rank = _rank_of(ranks, signals)
    timeline = timeline_of(rank.main)
    steps = timeline.measured
    if len(steps) == 0:
        return None
    begins, ends = steps["begin_ns"].to_numpy(), steps["end_ns"].to_numpy()
    waited = np.concatenate([[0], np.cumsum((steps["got_ns"] - steps["begin_ns"]).to_numpy())])
    length = int(np.clip(STEPS_SHOWN * np.median(ends - begins), SHORTEST_NS, LONGEST_NS))
    starts = np.unique(np.linspace(0, len(steps) - 1, min(len(steps), MOST_STARTS)).astype(int))
    whole = waited[-1] / max(1, ends[-1] - begins[0])
    lasts = np.minimum(np.searchsorted(begins, begins[starts] + length), len(steps))
    shares = (waited[lasts] - waited[starts]) / np.maximum(1, ends[lasts - 1] - begins[starts])
    is_whole = begins[starts] + length <= ends[-1]
    misses = np.abs(shares - whole) + np.where(is_whole | ~is_whole.any(), 0.0, 1.0)
    best = int(np.argmin(misses + 1e-6 * np.abs(starts - len(steps) / 2)))
    begin_ns = int(begins[starts[best]])
    made = made_of(rank, timeline)
    end_ns = min(begin_ns + length, int(ends[-1]))
    return Stretch(rank, timeline, made, begin_ns, end_ns, float(shares[best]), len(ranks))


def lanes(run: Run, signals: Signals, words: Words) -> Picture | None:
    """The training on top, what lay ready below it, and a lane for each worker."""
    seen = stretch_of(run, signals)
    if seen is None:
        return None
    steps = _within(seen.timeline.steps, seen, "begin_ns", "end_ns")
    made = _within(seen.made, seen, "begin_ns", "end_ns")
    drawn, hidden = _workers(made)
    marks: list[Mark] = [text(LEFT - 6, BAR, words("lanes.training"), anchor="end")]
    marks += _lane(_spans(steps, "begin_ns", "got_ns"), "wait", 0, seen)
    marks += _lane(_spans(steps, "got_ns", "end_ns"), "compute", 0, seen)
    marks += _numbers(steps, "got_ns", "end_ns", 0, seen)
    y = LANE + 4
    pins = _within(table(seen.rank.main, "pin"), seen, "begin_ns", "end_ns")
    if len(pins):
        marks += [text(LEFT - 6, y + BAR - 1, words("where.pin-thread"), anchor="end")]
        marks += _lane(_spans(pins, "begin_ns", "end_ns"), "copy", y, seen)
        y += LANE
    depth = _depth(steps, seen, y, words) if drawn != [-1] else ()
    marks += depth
    y += DEPTH + 8 if depth else 0
    for worker in drawn:
        mine = made[made["worker"] == worker]
        name = words("lanes.worker", n=worker) if worker >= 0 else words("lanes.making")
        marks += [text(LEFT - 6, y + BAR - 1, shortened(name, LEFT - 8), anchor="end")]
        marks += _lane(_spans(mine, "begin_ns", "end_ns"), "make", y, seen)
        marks += _numbers(mine, "begin_ns", "end_ns", y, seen)
        y += LANE
    marks += _axis(seen, y)
    return Picture(
        title=words("lanes.title"),
        sentence=_sentence(steps, seen, words),
        width=WIDTH,
        height=y + 2 * LINE,
        marks=tuple(marks),
        caption=_caption(seen, hidden, words),
        legend=_legend(pins, words),
        data=_table(steps, made, seen, words),
    )


def _within(rows: pd.DataFrame, seen: Stretch, begin: str, end: str) -> pd.DataFrame:
    return rows[(rows[end] > seen.begin_ns) & (rows[begin] < seen.end_ns)]


def _workers(made: pd.DataFrame) -> tuple[list[int], int]:
    """Who made batches meanwhile, as many as are drawn, and how many are not; -1 is the training process itself."""
    found = sorted({int(worker) for worker in made["worker"]})
    return found[:MOST_LANES], max(0, len(found) - MOST_LANES)


def _spans(rows: pd.DataFrame, begin: str, end: str) -> list[tuple[float, float]]:
    return list(zip(rows[begin].tolist(), rows[end].tolist(), strict=True))


def _x(at_ns: float, seen: Stretch) -> float:
    return place(at_ns, seen.begin_ns, seen.end_ns, LEFT, WIDTH - 2)


def _lane(spans: Iterable[tuple[float, float]], kind: str, y: float, seen: Stretch) -> tuple[Mark, ...]:
    found: list[Bar] = []
    for begin, end in spans:
        x1, x2 = _x(begin, seen), _x(end, seen)
        if x2 - x1 >= 0.2 and len(found) < MOST_BARS:  # noqa: PLR2004 - thinner than any line that is printed
            found.append((x1, y, max(0.4, x2 - x1 - 0.6), BAR))
    return bars(kind, found)


def _numbers(rows: pd.DataFrame, begin: str, end: str, y: float, seen: Stretch) -> Iterator[Mark]:
    """Each bar's batch, where there is room for it: the same number in two lanes is the same batch."""
    for start, stop, batch in zip(rows[begin].tolist(), rows[end].tolist(), rows["key"].tolist(), strict=True):
        x1, x2 = _x(start, seen), _x(stop, seen)
        label = str(int(batch))
        if x2 - x1 > 6 * len(label) + 4:
            yield text((x1 + x2) / 2, y + BAR - 2, label, "on-compute", "middle")


def _depth(steps: pd.DataFrame, seen: Stretch, y: float, words: Words) -> tuple[Mark, ...]:
    """Batches ready at each request, as a line of stairs."""
    known = steps[steps["ready"] >= 0]
    if len(known) == 0:
        return (
            text(LEFT - 6, y + DEPTH / 2, words("lanes.ready"), anchor="end"),
            text(LEFT, y + DEPTH / 2, words("lanes.no-count")),
        )
    ready = (known["ready"] + known["stash"].clip(lower=0)).tolist()
    top = figures.nice_ceiling(max(*ready, 1))
    base = y + DEPTH
    points = [
        (_x(at, seen), place(n, 0, top, base, y + 4)) for at, n in zip(known["begin_ns"].tolist(), ready, strict=True)
    ]
    line = stairs(points, WIDTH - 2)
    area = (points[0][0], base, *line, WIDTH - 2, base)
    return (
        text(LEFT - 6, y + DEPTH / 2 + 3, words("lanes.ready"), anchor="end"),
        Mark("area", "band", area),
        rule(LEFT, base, WIDTH - 2, base),
        Mark("line", "compute", line),
        text(WIDTH - 2, y + 3, words("lanes.top", n=words.count("batch", int(top))), anchor="end"),
    )


def _axis(seen: Stretch, y: float) -> Iterator[Mark]:
    length_s = (seen.end_ns - seen.begin_ns) / NS
    yield rule(LEFT, y + 2, WIDTH - 2, y + 2)
    for part, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        x = LEFT + part * (WIDTH - 2 - LEFT)
        yield rule(x, y, x, y + 5)
        yield text(x, y + 5 + LINE, figures.seconds(part * length_s) if part else "0", anchor=anchor)


def _sentence(steps: pd.DataFrame, seen: Stretch, words: Words) -> str:
    length = figures.seconds((seen.end_ns - seen.begin_ns) / NS)
    return words(
        "lanes.sentence", length=length, share=figures.share(seen.wait_share), steps=words.count("step", len(steps))
    )


def _caption(seen: Stretch, hidden: int, words: Words) -> str:
    after_s = (seen.begin_ns - seen.timeline.from_ns) / NS
    values = {
        "length": figures.seconds((seen.end_ns - seen.begin_ns) / NS),
        "after": figures.seconds(max(0.0, after_s)),
    }
    said = words("lanes.caption", share=figures.share(seen.wait_share), **values)
    said = words("lanes.rank", said=said, rank=seen.rank.number) if seen.ranks > 1 else said
    return f"{said} {words('lanes.hidden', n=words.count('worker', hidden))}" if hidden else said


def _legend(pins: Sequence[object], words: Words) -> tuple[tuple[str, str], ...]:
    pinned = (("copy", words("lanes.legend.pin")),) if len(pins) else ()
    return (
        ("wait", words("legend.wait")), ("compute", words("lanes.legend.step")), ("make", words("lanes.legend.make")), *pinned,
    )  # fmt: skip


def _table(steps: pd.DataFrame, made: pd.DataFrame, seen: Stretch, words: Words) -> Table:
    """A row a batch: when it was asked for, got and used up, and who made it when."""
    makers = {(row.loop, int(row.key)): row for row in made.itertuples()}
    rows = []
    for step in steps.itertuples():
        one = makers.get((step.loop, int(step.key)))
        name = figures.ABSENT if one is None else str(int(one.worker)) if one.worker >= 0 else words("where.main")
        made_from = figures.ABSENT if one is None else _since(one.begin_ns, seen)
        made_to = figures.ABSENT if one is None else _since(one.end_ns, seen)
        ready = figures.ABSENT if step.ready < 0 else str(int(step.ready + max(0, step.stash)))
        asked, got, end = (_since(at, seen) for at in (step.begin_ns, step.got_ns, step.end_ns))
        rows.append((str(int(step.key)), asked, ready, got, end, name, made_from, made_to))
    heads = ("batch", "asked", "ready", "got", "done", "maker", "made-from", "made-to")
    columns = tuple(Column(words(f"column.{head}"), head not in {"batch", "maker"}) for head in heads)
    note = words("table.more-steps", n=len(rows) - MOST_ROWS) if len(rows) > MOST_ROWS else ""
    return Table(words("lanes.title"), columns, tuple(rows[:MOST_ROWS]), note)


def _since(at_ns: float, seen: Stretch) -> str:
    """Milliseconds from the start of the stretch; what lies before it is negative."""
    return f"{(at_ns - seen.begin_ns) / 1e6:,.1f} ms"
