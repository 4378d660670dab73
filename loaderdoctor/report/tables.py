"""A table as every page and chart has it: headings by their words, cut to the rows that fit, with what was left out said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.report.model import Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loaderdoctor.report.words import Words

MOST_ROWS = 25  # a PDF takes 13 ms for each row, and nobody reads further; report.json has them all


def table(
    title: str,
    columns: Mapping[str, bool],
    rows: Sequence[tuple[str, ...]],
    words: Words,
    *,
    note: str = "",
    most: int = MOST_ROWS,
    more: str = "table.more",
) -> Table:
    """`columns` maps headings, words under "column." where no other place is named, to whether their cells are numbers.

    `more` is the sentence on the rows beyond `most`.
    """
    if len(rows) > most:
        note = f"{note} {words(more, n=len(rows) - most)}".strip()
    heads = tuple(
        Column(words(key if "." in key else f"column.{key}"), is_number) for key, is_number in columns.items()
    )
    return Table(title, heads, tuple(rows[:most]), note)
