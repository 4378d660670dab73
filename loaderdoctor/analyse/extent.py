"""How much of a run was there to be looked at, and how much of that was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.analyse.frames import table

if TYPE_CHECKING:
    from loaderdoctor.record.run import ProcessRecords

    Note = tuple[str, str]


def steps_in_all(main: ProcessRecords, steps: int) -> int:
    """Those that were looked at, and those that were only counted."""
    return steps + int(table(main, "passed")["batches"].sum())


def so_far(main: ProcessRecords, steps: int) -> Note:
    """How far a run was of which no end is recorded."""
    text = (
        f"This run had not ended when it was read, after {steps_in_all(main, steps):,} steps: its script was still running, "
        "or loaderdoctor was killed before the end. All numbers are of the time until then."
    )
    return "still-running", text


def in_detail(main: ProcessRecords, steps: int) -> Note:
    """What of a long run was looked at."""
    parts = len(main.seen.spans) if main.seen else 0
    text = (
        f"This run is long: {steps:,} of its {steps_in_all(main, steps):,} steps, in {parts} stretches spread evenly over it, "
        "were looked at in detail. Batches and epochs are counted in full; times and shares are of those stretches."
    )
    return "long-run", text
