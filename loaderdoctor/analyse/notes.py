"""What a report says of the records themselves: what was lost, and what the parent and the processes noted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.analyse import starved
from loaderdoctor.analyse.extent import in_detail, so_far
from loaderdoctor.analyse.frames import table
from loaderdoctor.analyse.loaders import damaged_settings
from loaderdoctor.probe.writer import reason_of
from loaderdoctor.record.run import RUNNING

if TYPE_CHECKING:
    from loaderdoctor.analyse.timeline import Timeline
    from loaderdoctor.record.run import ProcessRecords, Run

    Note = tuple[str, str]


def lost_records(run: Run) -> int:
    """Records that were torn, and those that processes could not write, as each said last."""
    said = [int(table(process, "lost")["records"].iloc[-1]) for process in run.processes if "lost" in process.tables]
    return sum(process.torn for process in run.processes) + max(0, sum(said)) + run.unwritten[0]


def lost_share(run: Run) -> float:
    """Of all records that there were to write."""
    kept = sum(len(next(iter(columns.values()))) for process in run.processes for columns in process.tables.values())
    lost = lost_records(run)
    return lost / (lost + kept) if lost else 0.0


def _why_lost(run: Run) -> list[Note]:
    """One note on records that could not be written, with every reason that the system gave."""
    reasons = {int(why) for process in run.processes for why in table(process, "lost")["errno"]}
    reasons |= {run.unwritten[1]} if run.unwritten[0] else set()
    if not reasons:
        return []
    why = "; ".join(sorted(reason_of(reason) for reason in reasons))
    text = f"{lost_records(run):,} records could not be written: {why}. The report is made of what is left."
    return [("records-lost", text)]


def notes_of(run: Run) -> tuple[Note, ...]:
    """What the parent and the processes noted, each note once."""
    notes = [(str(note["slug"]), str(note["text"])) for note in run.meta.notes]
    for process in run.processes:
        notes += _of_process(process)
    return tuple(dict.fromkeys([*notes, *_why_lost(run)]))


def _of_process(process: ProcessRecords) -> list[Note]:
    rows = table(process, "note")
    texts = process.texts
    return [
        (texts[slug], texts.get(sentence, ""))
        for slug, sentence in zip(rows["slug_text"], rows["sentence_text"], strict=True)
        if slug in texts
    ]


def timeline_notes(run: Run, main: ProcessRecords, timeline: Timeline, steps: int) -> list[Note]:
    """What the timeline of a rank's `main` process shows; `steps` is how many of it are in detail."""
    notes: list[Note] = []
    if damaged := damaged_settings(main):
        text = f"Settings that were not recorded whole count as not set: {'; '.join(damaged)}."
        notes.append(("settings-unreadable", text))
    if main.seen is not None:
        notes.append(in_detail(main, steps, run.meta.options))
    if run.meta.ended_by == RUNNING:
        notes.append(so_far(main, steps))
    if timeline.nested_calls:
        text = f"{timeline.nested_calls} batches were taken inside another loader's next(); they count as part of its wait."
        notes.append(("nested-loader", text))
    if timeline.trains_elsewhere:
        notes.append(("background-consumer", starved.BACKGROUND.reason))
    if timeline.other_threads:
        text = f"{timeline.other_threads} more threads iterate loaders; their waits do not hold up the training thread."
        notes.append(("other-threads", text))
    return notes
