"""The ladder as one HTML file, in the style of the reports, with a picture of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from loaderdoctor.report import figures
from loaderdoctor.report.html import FOR_BROWSERS
from loaderdoctor.report.model import Column, DiffLine, Fix, Listing, Table
from loaderdoctor.report.page_one import environment as environment_of
from loaderdoctor.report.privacy import shown_command
from loaderdoctor.report.templates import environment, find_templates
from loaderdoctor.report.visible import all_visible
from loaderdoctor.report.words import Words
from loaderdoctor.tune.rung import NAMES
from loaderdoctor.tune.shown import COLUMNS, leaner, model_curve, not_run, points, rate, table, verdict
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loaderdoctor.tune.climb import Climbed

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
    line: tuple[tuple[float, float], ...]  # what the model said,
    band: tuple[tuple[float, float, float], ...]  # and between what
    dots: tuple[tuple[float, float, bool], ...]  # what was measured; whether it is the best
    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]
    unit: str
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
    columns = tuple(Column(label, is_number=at > 1) for at, label in enumerate(COLUMNS))
    return Page(
        title="loaderdoctor tune",
        run_line=f"{' '.join(shown_command(meta.command, meta.working_directory))} · {meta.started_utc} · loaderdoctor {meta.tool_version}",
        headline=verdict(climbed)[:1].upper() + verdict(climbed)[1:],
        lead=(
            f"The script ran {climbed.runs} times, each time for as many steps, with these settings forced on its training "
            "loader as it was built. What the model had said beforehand, from the first run alone, is the line. "
            f"{leaner(climbed).capitalize()}"
        ),
        picture=picture_of(climbed),
        table=Table("The ladder", columns, tuple(table(climbed)), _how_to_read()),
        fix=_fix(patch),
        not_run=Listing("Not run, or not told", tuple(("", f"{name}: {why}.") for name, why in not_run(climbed))),
        environment=environment_of(climbed.run, climbed.signals, Words("en")),
    )


def _how_to_read() -> str:
    return (
        "samples/s: all time after warm-up, gaps between epochs and evaluations included; step: the median of the steady ones; "
        "waiting: the starved share; device: busy, as its driver says; worker CPU: cores that the workers keep busy; memory: "
        "workers and the batches that they hold ready; promised: what the model said of these settings before they ran. * is the "
        "best: of rows closer than 2 % the one with fewer workers."
    )


def _fix(patch: str | None) -> Fix:
    if patch is None:
        return Fix("", ())
    kinds = {"+": "add", "-": "del"}
    diff = tuple(
        DiffLine("ctx" if line.startswith(("+++", "---")) else kinds.get(line[:1], "ctx"), line)
        for line in patch.splitlines()
    )
    return Fix("The best settings as a patch", (), diff)


def picture_of(climbed: Climbed) -> Picture:
    """The picture; the axis ends above the highest measured mark and the model's line."""
    measured, model = points(climbed), model_curve(climbed)
    first = climbed.rungs[0].seen
    unit = "samples/s" if first is not None and isinstance(first.samples_per_s, Measured) else "steps/s"
    top = figures.nice_ceiling(HEADROOM * max([value for _, value in measured] + [best for _, _, best, _ in model]))
    last = max([count for count, _ in measured] + [count for count, *_ in model] + [1])
    best = climbed.best.seen
    return Picture(
        sentence=f"{unit} over the number of workers: {_in_words(measured, unit)}.",
        line=tuple((count / last, value / top) for count, _, value, _ in model),
        band=tuple((count / last, min(1.0, low / top), min(1.0, high / top)) for count, low, _, high in model),
        dots=tuple(
            (rung.seen.workers / last, rate(rung.seen) / top, rung.seen is best)
            for rung in climbed.rungs
            if rung.seen is not None
        ),
        across=tuple((count / last, f"{count}") for count in range(0, last + 1, 1 + last // 12)),
        up=tuple((part, figures.significant(part * top)) for part in (0.0, 0.5, 1.0)),
        unit=unit,
        bars=tuple(
            Bar(NAMES[rung.name], rate(rung.seen) / top, figures.significant(rate(rung.seen)), rung.seen is best)
            for rung in climbed.rungs
            if rung.seen is not None
        ),
    )


def _in_words(measured: Sequence[tuple[int, float]], unit: str) -> str:
    """Each number of workers once, with its highest rate."""
    highest: dict[int, float] = {}
    for count, value in measured:
        highest[count] = max(value, highest.get(count, 0.0))
    said = [f"{figures.significant(value)} {unit} with {count}" for count, value in sorted(highest.items())]
    rising = all(old <= new for (_, old), (_, new) in pairwise(sorted(highest.items())))
    return ", ".join(said) + ("" if rising else "; it falls in between or behind")
