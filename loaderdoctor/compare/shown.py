"""A comparison for people and for programs: eight lines at most, Markdown, JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from loaderdoctor.compare.comparison import FASTER, NO_DIFFERENCE, NOT_COMPARABLE, SLOWER
from loaderdoctor.report import figures
from loaderdoctor.report.visible import json_escaped, visible_line
from loaderdoctor.values import Interval, Measured, Missing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loaderdoctor.compare.changes import Change
    from loaderdoctor.compare.comparison import Comparison, Row
    from loaderdoctor.values import Value

# 1  first version
SCHEMA = "loaderdoctor.comparison/1"
FORMATS = ("text", "md", "json")
ARROW = "->"  # as a terminal of any encoding has it
_NAMES = {"samples_per_s": "speed", "step_s": "step", "starved_share": "waiting", "wall_s": "run"}
_SENTENCES = {
    FASTER: "B is {best} as fast as A ({range})",
    SLOWER: "B is slower than A: {best} as fast ({range})",
    NO_DIFFERENCE: "No difference that can be told from the noise of two runs: B is {best} as fast as A ({range})",
}


def render(comparison: Comparison, format_: str) -> str:
    """The text in one of FORMATS, with its last line break."""
    if format_ == "json":
        return json_escaped(json.dumps(as_json(comparison), indent=2, ensure_ascii=False, allow_nan=False)) + "\n"
    return "\n".join(_markdown(comparison) if format_ == "md" else lines(comparison)) + "\n"


def lines(comparison: Comparison) -> Iterator[str]:
    """At most eight: the verdict, a line a number, what changed, what became of the causes, what must be said beside."""
    yield verdict(comparison)
    for row in comparison.rows:
        yield visible_line(f"{_NAMES[row.name]:<10} {_cell(row.before)} {ARROW} {_cell(row.after)}")
    yield visible_line(f"{'changed':<10} {'; '.join(map(_change, comparison.changes)) or 'nothing that is seen'}")
    if comparison.gone or comparison.new:
        yield f"{'causes':<10} {_causes(comparison)}"
    if beside := _beside(comparison):
        yield visible_line(f"{'but':<10} {beside}")


def verdict(comparison: Comparison) -> str:
    """The one sentence."""
    speedup = comparison.speedup
    if speedup is None:
        why = "; ".join(one.text for one in comparison.differences if one.forbids)
        return visible_line(f"Not comparable, so no ratio is given: {why}.")
    numbers = {"best": figures.times(speedup.interval.best), "range": figures.times_range(speedup.interval)}
    over = f", over the same {speedup.paired_steps:,} steps" if speedup.paired_steps else ""
    return f"{_SENTENCES[comparison.verdict].format(**numbers)}{over}."


def _beside(comparison: Comparison) -> str:
    """What else may be behind the ratio; where there is none, it is said there why."""
    if comparison.verdict == NOT_COMPARABLE:
        return ""
    return "; ".join(one.text for one in comparison.differences)


def _cell(value: Value) -> str:
    if isinstance(value, Missing):
        return f"{figures.ABSENT} ({value.reason.rstrip('.')})"
    return f"{figures.cell(value)}{_range(value)}"


def _range(value: Measured) -> str:
    if value.low == value.high:
        return ""
    if value.unit == "share":
        return f" ({figures.share_range(Interval.of(value))})"
    if value.unit == "s":
        return f" ({figures.seconds_range(value.low, value.high)})"
    return f" ({figures.significant(value.low)}{figures.DASH}{figures.significant(value.high)})"


def _change(change: Change) -> str:
    of = f" of {change.loader}" if change.loader else ""
    return f"{change.name}{of} {_said(change.before)} {ARROW} {_said(change.after)}"


def _said(value: Any) -> str:
    return value if isinstance(value, str) else f"{value!r}"


def _causes(comparison: Comparison) -> str:
    parts = (("gone: ", comparison.gone), ("new: ", comparison.new))
    return "; ".join(f"{what}{', '.join(ids)}" for what, ids in parts if ids)


def _markdown(comparison: Comparison) -> Iterator[str]:
    from loaderdoctor.report.markdown import plain

    yield f"### {plain(verdict(comparison))}\n"
    yield "| | A | B |\n|---|--:|--:|"
    for row in comparison.rows:
        yield f"| {_NAMES[row.name]} | {plain(_cell(row.before))} | {plain(_cell(row.after))} |"
    yield ""
    for change in comparison.changes:
        yield f"- {plain(_change(change))}"
    if comparison.gone or comparison.new:
        yield f"- causes {plain(_causes(comparison))}"
    if beside := _beside(comparison):
        yield f"- but {plain(beside)}"


def as_json(comparison: Comparison) -> dict[str, Any]:
    """Shares 0..1, seconds; null where something is not known, with its reason."""
    speedup = comparison.speedup
    return {
        "schema": SCHEMA,
        "before": comparison.before,
        "after": comparison.after,
        "verdict": comparison.verdict,
        "sentence": verdict(comparison),
        "speedup": None if speedup is None else asdict(speedup.interval),
        "paired_steps": 0 if speedup is None else speedup.paired_steps,
        "rows": {row.name: _row(row) for row in comparison.rows},
        "differences": [asdict(one) for one in comparison.differences],
        "changes": [asdict(one) for one in comparison.changes],
        "causes": {"gone": list(comparison.gone), "new": list(comparison.new)},
    }


def _row(row: Row) -> dict[str, Any]:
    return {side: _plain(value) for side, value in (("before", row.before), ("after", row.after))}


def _plain(value: Value) -> dict[str, Any]:
    if isinstance(value, Missing):
        return {"low": None, "best": None, "high": None, "missing": value.reason}
    return asdict(Interval.of(value))
