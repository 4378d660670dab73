"""The ladder as one HTML file, in the style of the reports, with a picture of it."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from loaderdoctor.predict.speedup import WITHIN
from loaderdoctor.report import figures
from loaderdoctor.report.advice import PATCH_FILE
from loaderdoctor.report.html import FOR_BROWSERS
from loaderdoctor.report.model import Column, DiffLine, Fix, Listing, Table
from loaderdoctor.report.page_one import environment as environment_of
from loaderdoctor.report.privacy import shown_command
from loaderdoctor.report.templates import environment, find_templates
from loaderdoctor.report.visible import all_visible
from loaderdoctor.report.words import Words
from loaderdoctor.tune.rung import NAMES
from loaderdoctor.tune.shown import (
    MARK,
    WORDS,
    beside,
    model_curve,
    not_run,
    points,
    rate,
    table,
    verdict,
)
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loaderdoctor.tune.climb import Climbed

_EXPLAINED = {
    "samples/s": "all time after warm-up, gaps between epochs and evaluations included",
    "step": "the same time over the steps of training",
    "waiting": "the starved share",
    "device": "busy, as its driver says",
    "worker CPU": "cores that the workers keep busy",
    "memory": "workers and the batches that they hold ready",
    "promised": "what the model said of these settings before they ran",
}
_DOTS = "Dots are runs, the large one is the best."
_LINE = "The line is what the model said of other numbers of workers after the first run alone, with its interval."
MOST_MARKS = 5  # of the upper axis: more stand closer than its labels are high
HEADROOM = 1.05  # of the axis above the highest mark: the model's interval may end off the picture, the runs never


@dataclass(frozen=True)
class Bar:
    """A rung; `length` is 0..1 of the axis."""

    label: str
    length: float
    value: str
    is_best: bool


@dataclass(frozen=True)
class Picture:
    """Rate over workers: places 0..1 of both axes, from the lower left; a bar for each rung that ran."""

    sentence: str
    how_to_read: str
    line: tuple[tuple[float, float], ...]  # what the model said,
    band: tuple[tuple[float, float, float], ...]  # and between what
    dots: tuple[tuple[float, float, bool], ...]  # what was measured; whether it is the best
    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]
    unit: str
    across_unit: str
    rungs: str  # what the bars are
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Page:
    """The whole page, in words and rounded numbers."""

    title: str
    run_line: str
    headline: str
    lead: str
    picture: Picture
    table: Table
    fix: Fix
    not_run: Listing
    environment: Listing


def render(climbed: Climbed, patch: str | None) -> str:
    """The page as text."""
    css = "\n".join((find_templates() / name).read_text(encoding="utf-8").rstrip() for name in FOR_BROWSERS)
    template = environment().get_template("tune.html.j2")
    return template.render(v=all_visible(page_of(climbed, patch)), css=css)


def page_of(climbed: Climbed, patch: str | None) -> Page:
    """What the page shows."""
    meta = climbed.run.meta
    names, rows = table(climbed)
    columns = tuple(Column(name, is_number=at >= WORDS) for at, name in enumerate(names))
    return Page(
        title="loaderdoctor tune",
        run_line=f"{' '.join(shown_command(meta.command, meta.working_directory))} · {meta.started_utc} · loaderdoctor {meta.tool_version}",
        headline=_sentence(verdict(climbed)),
        lead=" ".join([_opening(climbed), *map(_sentence, beside(climbed, _in_this_folder))]),
        picture=picture_of(climbed),
        table=Table("The ladder", columns, tuple(rows), _how_to_read(names)),
        fix=_fix(patch),
        not_run=Listing("Not run, or not told", tuple(("", f"{name}: {why}.") for name, why in not_run(climbed))),
        environment=environment_of(climbed.run, climbed.signals, Words("en")),
    )


def _opening(climbed: Climbed) -> str:
    return (
        f"The script ran {climbed.runs} times, for as many steps each time, with these settings forced on its training loader "
        "as it was built."
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _in_this_folder(path: Path) -> str:
    return path.name


def _how_to_read(columns: Sequence[str]) -> str:
    explained = "; ".join(f"{name}: {_EXPLAINED[name]}" for name in columns if name in _EXPLAINED)
    return f"{_sentence(explained)}. {MARK} is the best: of rows closer than {figures.share(WITHIN)} the one with fewer workers."


def _fix(patch: str | None) -> Fix:
    if patch is None:
        return Fix("", ())
    kinds = {"+": "add", "-": "del"}
    diff = tuple(
        DiffLine("ctx" if line.startswith(("+++", "---")) else kinds.get(line[:1], "ctx"), line)
        for line in patch.splitlines()
    )
    apply = "In the folder that the script was started in, with the path of this one before it:"
    return Fix("The best settings as a patch", (), diff, apply, (f"git apply {PATCH_FILE}",))


def picture_of(climbed: Climbed) -> Picture:
    """The picture; the axis ends above the highest measured mark and the model's line."""
    measured, model = points(climbed), model_curve(climbed)
    first = climbed.rungs[0].seen
    unit = "samples/s" if first is not None and isinstance(first.samples_per_s, Measured) else "steps/s"
    marks = _marks(HEADROOM * max([value for _, value in measured] + [best for _, _, best, _ in model]))
    top = marks[-1]
    last = max([count for count, _ in measured] + [count for count, *_ in model] + [1])
    best = climbed.best.seen
    return Picture(
        sentence=f"{_sentence(unit)} over the number of workers: {_in_words(measured)}.",
        how_to_read=_DOTS if not model else f"{_DOTS} {_LINE}",
        line=tuple((count / last, value / top) for count, _, value, _ in model),
        band=tuple((count / last, min(1.0, low / top), min(1.0, high / top)) for count, low, _, high in model),
        dots=tuple(
            (rung.seen.workers / last, rate(rung.seen) / top, rung.seen is best)
            for rung in climbed.rungs
            if rung.seen is not None
        ),
        across=tuple((count / last, f"{count}") for count in range(0, last + 1, 1 + last // 12)),
        up=tuple((mark / top, figures.significant(mark)) for mark in marks),
        unit=unit,
        across_unit="workers",
        rungs=f"{_sentence(unit)} of each run, in their order.",
        bars=tuple(
            Bar(NAMES[rung.name], rate(rung.seen) / top, figures.significant(rate(rung.seen)), rung.seen is best)
            for rung in climbed.rungs
            if rung.seen is not None
        ),
    )


def _marks(highest: float) -> list[float]:
    """Of an axis from 0 to the first mark that is not below `highest`."""
    step = figures.nice_ceiling(highest / MOST_MARKS)
    return [step * number for number in range(ceil(highest / step) + 1)]


def _in_words(measured: Sequence[tuple[int, float]]) -> str:
    """Each number of workers once, with its highest rate, and where the highest of all is."""
    highest: dict[int, float] = {}
    for count, value in measured:
        highest[count] = max(value, highest.get(count, 0.0))
    said = [f"{figures.significant(value)} with {count}" for count, value in sorted(highest.items())]
    best = max(highest, key=lambda count: highest[count])
    beyond = "" if best < max(highest) else ", and more were not run"
    return f"{', '.join(said)}; the most with {best}{beyond}"
