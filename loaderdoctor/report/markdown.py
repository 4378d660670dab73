"""The first page as Markdown, for a ticket or a pull request's comment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loaderdoctor.report.model import Fix, Listing, ReportView, Table

_MARKS = re.compile(r"([\\`*_<>\[\]|#~])")


def render(view: ReportView) -> str:
    """The text, ending in a line break."""
    return "\n".join(_lines(view)) + "\n"


def _lines(view: ReportView) -> Iterator[str]:
    yield f"## {_plain(view.headline)}"
    yield f"\n{_plain(view.lead)}\n"
    yield "| | | |\n|---|---|---|"
    for fact in view.facts:
        yield f"| {_plain(fact.label)} | **{_plain(fact.value)}** | {_plain(fact.detail)} |"
    if view.proof.split:
        yield f"\n{_plain(view.proof.split.sentence)}"
    if view.proof.steps:
        yield f"\n{_plain(view.proof.steps.sentence)}"
    yield f"\n### {view.fix.title}\n"
    yield from _fix(view.fix)
    yield f"\n### {view.gain.title}\n"
    if view.gain.chart:
        yield f"- {_plain(view.gain.chart.caption)}"
    yield from (f"- {_plain(sentence)}" for sentence in view.gain.sentences)
    yield from _list(view.sure)
    yield from _list(view.ruled_out)
    for finding in view.findings:
        yield f"\n### {_plain(finding.title)} (`{finding.cause}`)\n"
        yield from (f"- {_plain(text)}" for text in (*finding.facts, *finding.evidence))
        yield ""
        yield from _fix(finding.fix)
    yield from _list(view.environment)
    for table in view.tables[:1]:
        yield from _table(table)
    yield f"\n<sub>{_plain(view.run_line)}</sub>"


def _fix(fix: Fix) -> Iterator[str]:
    if fix.sentences:
        yield "\n\n".join(_plain(sentence) for sentence in fix.sentences)
    if fix.diff:
        yield _fenced("diff", [line.text for line in fix.diff])
    if fix.commands:
        yield f"\n{_plain(fix.apply)}\n" if fix.apply else ""
        yield _fenced("sh", list(fix.commands))
    if fix.safety:
        yield f"\n{_plain(fix.safety)}"


def _fenced(language: str, lines: list[str]) -> str:
    """A code block whose fence is longer than any inside it."""
    longest = max((len(run) for line in lines for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}{language}", *lines, fence])


def _list(listing: Listing) -> Iterator[str]:
    if not listing.entries:
        return
    yield f"\n### {listing.title}\n"
    for term, text in listing.entries:
        yield f"- **{_plain(term)}**: {_plain(text)}" if term else f"- {_plain(text)}"
    if listing.note:
        yield f"\n{_plain(listing.note)}"


def _table(table: Table) -> Iterator[str]:
    yield f"\n<details><summary>{_plain(table.title)}</summary>\n"
    yield "| " + " | ".join(_plain(column.label) for column in table.columns) + " |"
    yield "|" + "|".join("--:" if column.is_number else "---" for column in table.columns) + "|"
    yield from ("| " + " | ".join(_plain(text) for text in row) + " |" for row in table.rows)
    yield f"\n{_plain(table.note)}\n\n</details>" if table.note else "\n</details>"


def _plain(text: str) -> str:
    """Text as it is: without Markdown's marks, on one line."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
