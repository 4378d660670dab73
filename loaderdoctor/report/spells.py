"""A run that changed, in words and as a chart: when, and how much it waited before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.gates import STARVES
from loaderdoctor.report import figures
from loaderdoctor.report.model import SpellsChart, Table
from loaderdoctor.report.tables import table
from loaderdoctor.values import Interval

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import Signals, Spell
    from loaderdoctor.report.words import Words

DIGITS = 3  # of a step: a cut lies between blocks of a two-hundredth of the run
MOST_IN_WORDS = 3  # spells; of more, no sentence is read to its end


def changed(signals: Signals, words: Words) -> str:
    """When the run changed, in a sentence; empty where it stayed as it was."""
    spells = signals.spells
    if len(spells) < 2:  # noqa: PLR2004 - before and after
        return ""
    if len(spells) > MOST_IN_WORDS:
        values = sorted(spell.starved_share.value for spell in spells)
        ends = {"low": figures.share(values[0]), "high": figures.share(values[-1])}
        return words("spells.often", n=len(spells) - 1, **ends)
    steps = {f"step{k}": _about(spell.to_step) for k, spell in enumerate(spells[:-1], 1)}
    states = {f"state{k}": _state(spell, words) for k, spell in enumerate(spells)}
    return words("spells.once" if len(spells) == 2 else "spells.twice", **steps, **states)  # noqa: PLR2004 - one change


def _about(step: int) -> str:
    return f"{round(step, DIGITS - len(str(step))):,}" if step >= 10**DIGITS else f"{step:,}"


def _state(spell: Spell, words: Words) -> str:
    value = spell.starved_share.value
    return words("spells.starving" if value >= STARVES.value else "spells.healthy", share=figures.share(value))


def spells_chart(signals: Signals, words: Words) -> SpellsChart | None:
    """The share of waiting over the run, where it changed."""
    spells = signals.spells
    if len(spells) < 2:  # noqa: PLR2004 - before and after
        return None
    first, last = spells[0].from_step, spells[-1].to_step
    whole = max(1, last - first + 1)
    return SpellsChart(
        sentence=changed(signals, words),
        spells=tuple(
            (
                (spell.from_step - first) / whole,
                (spell.to_step + 1 - first) / whole,
                min(1.0, spell.starved_share.value),
            )
            for spell in spells
        ),
        ticks=tuple((part, figures.share(part)) for part in (0.0, 0.5, 1.0)),
        first=words("steps.step", n=f"{first:,}"),
        last=words("steps.step", n=f"{last:,}"),
        caption=words("spells.caption"),
        data=_table(spells, words),
    )


def _table(spells: tuple[Spell, ...], words: Words) -> Table:
    columns = {"steps": False, "time": True, "share": True, "range": True}
    rows = tuple(
        (
            f"{spell.from_step:,}{figures.DASH}{spell.to_step:,}",
            figures.seconds_range(spell.from_s, spell.to_s),
            figures.share(spell.starved_share.value),
            figures.share_range(Interval.of(spell.starved_share)),
        )
        for spell in spells
    )
    return table(words("spells.data"), columns, rows, words)
