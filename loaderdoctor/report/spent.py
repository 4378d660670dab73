"""Where the whole run's time went: its phases beside each other, and the waiting in each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.report import figures
from loaderdoctor.report.model import Mark, Picture, Table
from loaderdoctor.report.sheet import LINE, WIDTH, Bar, bars, text, width_of
from loaderdoctor.report.tables import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from loaderdoctor.analyse.signals import Signals
    from loaderdoctor.report.words import Words

HIGH = 20.0
GAP = 8.0  # between two labels
TRAINS = frozenset({"train"})


def spent(signals: Signals, words: Words) -> Picture | None:
    """A bar that is the run from its start to its end; None where no phase is known."""
    whole_s = sum(phase.seconds for phase in signals.phases)
    if whole_s <= 0:
        return None
    waits: list[Bar] = []
    works: list[Bar] = []
    rest: list[Bar] = []
    x = 0.0
    labels: list[tuple[float, float, str]] = []  # seconds, place, words
    for phase in signals.phases:
        width = WIDTH * phase.seconds / whole_s
        waited = width * min(1.0, phase.data_wait_s / phase.seconds) if phase.seconds > 0 else 0.0
        waits.append((x, 0.0, waited, HIGH))
        (works if phase.name in TRAINS else rest).append((x + waited, 0.0, max(0.3, width - waited - 1), HIGH))
        labels.append((phase.seconds, x, f"{words(f'phase.{phase.name}')} {figures.seconds(phase.seconds)}"))
        x += width
    marks = [*bars("wait", waits), *bars("compute", works), *bars("other", rest), *_labelled(labels)]
    values = {
        "length": figures.seconds(whole_s),
        "waiting": figures.seconds(sum(one.data_wait_s for one in signals.phases)),
    }
    said = words("phases.sentence", **values)
    return Picture(
        title=words("phases.title"),
        sentence=said,
        width=WIDTH,
        height=HIGH + LINE + 6,
        marks=tuple(marks),
        caption=said,
        legend=(("wait", words("legend.wait")), ("compute", words("phase.train")), ("other", words("phase.other"))),
        data=_table(signals, words),
    )


def _labelled(labels: Iterable[tuple[float, float, str]]) -> Iterator[Mark]:
    """Below the bar, the longest phases first; one without room is in the table."""
    taken: list[tuple[float, float]] = []
    for _, x, label in sorted(labels, reverse=True):
        length = width_of(label)
        start = max(0.0, min(x, WIDTH - length))
        if all(start + length + GAP <= begin or end + GAP <= start for begin, end in taken):
            taken.append((start, start + length))
            yield text(start, HIGH + LINE + 1, label)


def _table(signals: Signals, words: Words) -> Table:
    rows = tuple(
        (words(f"phase.{p.name}"), figures.seconds(p.seconds), figures.share(p.share), figures.seconds(p.data_wait_s))
        for p in signals.phases
    )
    columns = {"phase": False, "time": True, "share": True, "waiting": True}
    return table(words("phases.title"), columns, rows, words)
