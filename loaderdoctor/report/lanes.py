"""A typical stretch of the run, batch by batch: who made which when, what lay ready, and when the training took it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.report import figures
from loaderdoctor.report.model import Mark, Picture, Table
from loaderdoctor.report.sheet import LEFT, LINE, WIDTH, Bar, bars, place, rule, shortened, stairs, text
from loaderdoctor.report.tables import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from loaderdoctor.analyse.signals import Signals, Stretch
    from loaderdoctor.report.words import Words

    Span = tuple[int, int]

MOST_LANES = 12  # workers drawn; with more, a lane is thinner than its letters
MOST_BARS = 120  # of a lane's kind
THINNEST = 0.2  # thinner than any line that is printed
LANE, BAR = 15.0, 10.0
DEPTH = 40.0  # height of what lay ready
NS = 1e9


def lanes(signals: Signals, words: Words) -> Picture | None:
    """The training on top, what lay ready below it, and a lane for each worker."""
    seen = signals.stretch
    if seen is None:
        return None
    makers = sorted({one.worker for one in seen.made})
    marks, y = _training(seen, words)
    if makers != [-1]:
        marks += _depth(seen, y, words)
        y += DEPTH + 8
    for worker in makers[:MOST_LANES]:
        mine = [(one.begin_ns, one.end_ns, one.batch) for one in seen.made if one.worker == worker]
        name = words("lanes.worker", n=worker) if worker >= 0 else words("lanes.making")
        marks.append(_name(name, y))
        marks += _lane(((begin, end) for begin, end, _ in mine), "make", y, seen)
        marks += _numbers(mine, y, seen)
        y += LANE
    marks += _axis(seen, y)
    return Picture(
        title=words("lanes.title"),
        sentence=_sentence(seen, words),
        width=WIDTH,
        height=y + 2 * LINE,
        marks=tuple(marks),
        caption=_caption(seen, len(makers) - MOST_LANES, words),
        legend=_legend(seen, words),
        data=_table(seen, words),
    )


def _training(seen: Stretch, words: Words) -> tuple[list[Mark], float]:
    """Its waits and its work, and the pin thread where there is one; and where the next lane begins."""
    marks = [_name(words("lanes.training"), 0)]
    marks += _lane(((step.asked_ns, step.got_ns) for step in seen.steps), "wait", 0, seen)
    marks += _lane(((step.got_ns, step.end_ns) for step in seen.steps), "compute", 0, seen)
    marks += _numbers(((step.got_ns, step.end_ns, step.batch) for step in seen.steps), 0, seen)
    if not seen.pins:
        return marks, LANE + 4
    marks.append(_name(words("where.pin-thread"), LANE + 4))
    marks += _lane(seen.pins, "copy", LANE + 4, seen)
    return marks, 2 * LANE + 4


def _name(said: str, y: float) -> Mark:
    return text(LEFT - 6, y + BAR - 1, shortened(said, LEFT - 8), anchor="end")


def _x(at_ns: float, seen: Stretch) -> float:
    return place(at_ns, 0, seen.length_ns, LEFT, WIDTH - 2)


def _lane(spans: Iterable[Span], kind: str, y: float, seen: Stretch) -> tuple[Mark, ...]:
    found: list[Bar] = []
    for begin, end in spans:
        x1, x2 = _x(begin, seen), _x(end, seen)
        if x2 - x1 >= THINNEST and len(found) < MOST_BARS:
            found.append((x1, y, max(0.4, x2 - x1 - 0.6), BAR))
    return bars(kind, found)


def _numbers(spans: Iterable[tuple[int, int, int]], y: float, seen: Stretch) -> Iterator[Mark]:
    """Each bar's batch, where there is room for it: the same number in two lanes is the same batch."""
    for begin, end, batch in spans:
        x1, x2 = _x(begin, seen), _x(end, seen)
        if x2 - x1 > 6 * len(str(batch)) + 4:
            yield text((x1 + x2) / 2, y + BAR - 2, str(batch), "on-compute", "middle")


def _depth(seen: Stretch, y: float, words: Words) -> Iterator[Mark]:
    """Batches ready at each request, as a line of stairs."""
    known = [(step.asked_ns, step.ready) for step in seen.steps if step.ready is not None]
    base = y + DEPTH
    yield _name(words("lanes.ready"), y + DEPTH / 2 - BAR / 2)
    if not known:
        yield text(LEFT, y + DEPTH / 2 + 4, words("lanes.no-count"))
        return
    top = figures.nice_ceiling(max(1, *(ready for _, ready in known)))
    line = stairs([(_x(at, seen), place(ready, 0, top, base, y + 6)) for at, ready in known], WIDTH - 2)
    yield Mark("area", "band", (line[0], base, *line, WIDTH - 2, base))
    yield rule(LEFT, base, WIDTH - 2, base)
    yield Mark("line", "compute", line)
    yield text(WIDTH - 2, y + 3, words("lanes.top", n=words.count("batch", int(top))), anchor="end")


def _axis(seen: Stretch, y: float) -> Iterator[Mark]:
    yield rule(LEFT, y + 2, WIDTH - 2, y + 2)
    for part, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        x = LEFT + part * (WIDTH - 2 - LEFT)
        yield rule(x, y, x, y + 5)
        yield text(x, y + 5 + LINE, figures.seconds(part * seen.length_ns / NS) if part else "0", anchor=anchor)


def _sentence(seen: Stretch, words: Words) -> str:
    steps = words.count("step", len(seen.steps))
    values = {"length": figures.seconds(seen.length_ns / NS), "share": figures.share(seen.wait_share)}
    return words("lanes.sentence", steps=steps, **values)


def _caption(seen: Stretch, hidden: int, words: Words) -> str:
    values = {"length": figures.seconds(seen.length_ns / NS), "after": figures.seconds(seen.after_s)}
    said = words("lanes.caption", share=figures.share(seen.wait_share), **values)
    said = words("lanes.rank", said=said, rank=seen.rank) if seen.ranks > 1 else said
    return f"{said} {words('lanes.hidden', n=words.count('worker', hidden))}" if hidden > 0 else said


def _legend(seen: Stretch, words: Words) -> tuple[tuple[str, str], ...]:
    pinned = (("copy", words("lanes.legend.pin")),) if seen.pins else ()
    return (
        ("wait", words("legend.wait")), ("compute", words("lanes.legend.step")), ("make", words("lanes.legend.make")), *pinned,
    )  # fmt: skip


def _table(seen: Stretch, words: Words) -> Table:
    """A row a batch: when it was asked for, got and used up, and who made it when."""
    makers = {(one.loop, one.batch): one for one in seen.made}
    rows = []
    for step in seen.steps:
        one = makers.get((step.loop, step.batch))
        who = figures.ABSENT if one is None else str(one.worker) if one.worker >= 0 else words("where.main")
        made = (figures.ABSENT, figures.ABSENT) if one is None else (_since(one.begin_ns), _since(one.end_ns))
        ready = figures.ABSENT if step.ready is None else str(step.ready)
        took = _since(step.asked_ns), ready, _since(step.got_ns), _since(step.end_ns)
        rows.append((str(step.batch), *took, who, *made))
    heads = ("batch", "asked", "ready", "got", "done", "maker", "made-from", "made-to")
    columns = {head: head not in {"batch", "maker"} for head in heads}
    return table(words("lanes.title"), columns, rows, words, more="table.more-steps")


def _since(at_ns: float) -> str:
    """Milliseconds from the start of the stretch; what lies before it is negative."""
    return f"{at_ns / 1e6:,.1f} ms"
