"""The first page as Markdown, for a ticket or a pull request's comment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from loaderdoctor.report.parts import Parts
from loaderdoctor.report.words import Words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from loaderdoctor.report.model import FindingBlock, Fix, Listing, ReportView, Table

S = TypeVar("S")

_MARKS = re.compile(r"([\\`*_<>\[\]|#~!$])")
_MENTION = re.compile(r"(^|\W)@(?=\w)")  # a site would call the people of that name
_LEADING = re.compile(r"^(\d*)([-+.)])(?=\s)|^()([-=])(?=[-=]*$)")  # of a list or a rule, where a line starts
_ENTITY = re.compile(r"&(?=#?\w+;)")


def render(view: ReportView) -> str:
    """The text, ending in a line break."""
    parts = Parts(Words(view.lang))
    blocks = _parts(view, parts)
    return "\n".join(line for block in blocks for line in block) + "\n"


def _parts(view: ReportView, parts: Parts) -> Iterator[tuple[str, ...]]:
    """The lines of each part; a sentence for one that fails."""
    for draw in (_opening, _facts, _proof, _first_fix, _gain, _sure, _ruled_out, _unmeasured):
        yield _drawn(parts, draw, view)
    for finding in view.findings:
        yield _drawn(parts, _finding, finding)
    yield _drawn(parts, _list, view.environment)
    for table in view.tables[:1]:
        yield _drawn(parts, _table, table)
    yield (f"\n<sub>{plain(view.run_line)}</sub>",)


def _drawn(parts: Parts, draw: Callable[[S], Iterator[str]], what: S) -> tuple[str, ...]:
    lines = parts.made(draw.__name__.strip("_"), lambda: tuple(draw(what)), None)
    return (f"\n{plain(parts.sentence())}\n",) if lines is None else lines


def _opening(view: ReportView) -> Iterator[str]:
    yield f"## {plain(view.headline)}"
    yield f"\n{plain(view.lead)}\n"
    if view.ended:
        yield f"{plain(view.ended)}\n"


def _facts(view: ReportView) -> Iterator[str]:
    yield "| | | |\n|---|---|---|"
    for fact in view.facts:
        yield f"| {plain(fact.label)} | **{plain(fact.value)}** | {plain(fact.detail)} |"


def _proof(view: ReportView) -> Iterator[str]:
    if view.proof.split:
        yield f"\n{plain(view.proof.split.sentence)}"
    if view.proof.steps:
        yield f"\n{plain(view.proof.steps.sentence)}"
    if view.proof.spells:
        yield f"\n{plain(view.proof.spells.sentence)}"
    if view.ranks:
        yield f"\n{plain(view.ranks.sentence)}"


def _first_fix(view: ReportView) -> Iterator[str]:
    yield f"\n### {view.fix.title}\n"
    yield from _fix(view.fix)


def _gain(view: ReportView) -> Iterator[str]:
    yield f"\n### {view.gain.title}\n"
    if view.gain.chart:
        yield f"- {plain(view.gain.chart.caption)}"
    yield from (f"- {plain(sentence)}" for sentence in view.gain.sentences)


def _sure(view: ReportView) -> Iterator[str]:
    yield from _list(view.sure)


def _ruled_out(view: ReportView) -> Iterator[str]:
    yield from _list(view.ruled_out)


def _unmeasured(view: ReportView) -> Iterator[str]:
    yield from _list(view.unmeasured)


def _finding(finding: FindingBlock) -> Iterator[str]:
    yield f"\n### {plain(finding.title)} ({_code(finding.cause)})\n"
    yield from (f"- {plain(text)}" for text in (*finding.facts, *finding.evidence))
    yield ""
    yield from _fix(finding.fix)


def _fix(fix: Fix) -> Iterator[str]:
    if fix.sentences:
        yield "\n\n".join(plain(sentence) for sentence in fix.sentences)
    if fix.diff:
        yield _fenced("diff", [line.text for line in fix.diff])
    if fix.commands:
        yield f"\n{plain(fix.apply)}\n" if fix.apply else ""
        yield _fenced("sh", list(fix.commands))
    for example in fix.examples:
        yield f"\n{plain(example.text)}\n"
        if example.code:
            yield _fenced("python", example.code.split("\n"))
    if fix.safety:
        yield f"\n{plain(fix.safety)}"


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
        yield f"- **{plain(term)}**: {plain(text)}" if term else f"- {plain(text)}"
    if listing.note:
        yield f"\n{plain(listing.note)}"


def _table(table: Table) -> Iterator[str]:
    yield f"\n<details><summary>{plain(table.title)}</summary>\n"
    yield "| " + " | ".join(plain(column.label) for column in table.columns) + " |"
    yield "|" + "|".join("--:" if column.is_number else "---" for column in table.columns) + "|"
    yield from ("| " + " | ".join(plain(text) for text in row) + " |" for row in table.rows)
    yield f"\n{plain(table.note)}\n\n</details>" if table.note else "\n</details>"


def _code(text: str) -> str:
    return f"`{' '.join(text.replace('`', chr(39)).split())}`"


def plain(text: str) -> str:
    """Text as it is: without Markdown's marks and what is made a link of unasked, on one line."""
    shown = _MARKS.sub(r"\\\1", " ".join(text.split()))
    return _LEADING.sub(r"\1\3\\\2\4", _MENTION.sub(r"\1&#64;", _ENTITY.sub("&amp;", shown).replace("://", "&#58;//")))
