"""How much of a run was there to be looked at, and how much of that was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaderdoctor.analyse.frames import table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loaderdoctor.record.run import ProcessRecords

    Note = tuple[str, str]


def steps_in_all(main: ProcessRecords, steps: int) -> int:
    """Those that were looked at, and those that were only counted."""
    return steps + int(table(main, "passed")["batches"].sum())


def counted_only(main: ProcessRecords) -> set[int]:
    """The loaders that gave batches which were not looked at."""
    passed = table(main, "passed")
    return set(passed.loc[(passed["loader"] > 0) & (passed["batches"] > 0), "loader"].tolist())


def so_far(main: ProcessRecords, steps: int) -> Note:
    """How far a run was of which no end is recorded."""
    text = (
        f"This run had not ended when it was read, after {steps_in_all(main, steps):,} steps: its script was still running, "
        "or loaderdoctor was killed before the end. All numbers are of the time until then."
    )
    return "still-running", text


def in_detail(main: ProcessRecords, steps: int, options: Mapping[str, Any]) -> Note:
    """What of a long run was looked at, or of one that was recorded in windows."""
    parts = len(main.seen.spans) if main.seen else 0
    every_s, for_s = options.get("every_s"), options.get("for_s")
    if every_s and for_s:
        text = (
            f"This run was recorded in windows, {for_s:g} s of each {every_s:g} s from the first batch on: {steps:,} of its "
            f"{steps_in_all(main, steps):,} steps, in {parts} windows. Batches and epochs are counted in full; times and shares "
            "are of the windows, and what happened only between them is not told."
        )
        return "windows", text
    text = (
        f"This run is long: {steps:,} of its {steps_in_all(main, steps):,} steps, in {parts} stretches spread evenly over it, "
        "were looked at in detail. Batches and epochs are counted in full; times and shares are of those stretches."
    )
    return "long-run", text
