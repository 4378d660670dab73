"""The window under torch's profiler: kept out of the measurement, and held against the device clock."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from loaderdoctor.analyse.frames import table

if TYPE_CHECKING:
    from loaderdoctor.record.run import ProcessRecords, Run

SLUG = "trace-window"
_WHEN = {"next": "begin_ns", "optimizer_step": "end_ns", "iterator": "begin_ns"}  # what steps are made of


def before_windows(run: Run) -> Run:
    """The run without the steps that a profiler watched: it may have slowed them down."""
    return replace(run, processes=tuple(_before_window(process) for process in run.processes))


def _before_window(process: ProcessRecords) -> ProcessRecords:
    windows = process.tables.get("trace_window")
    if windows is None:
        return process
    begin_ns = windows["begin_ns"].min()
    tables = dict(process.tables)
    for name, when in _WHEN.items():
        columns = tables.get(name, {})
        tables[name] = MappingProxyType({field: column[columns[when] < begin_ns] for field, column in columns.items()})
    return replace(process, tables=MappingProxyType(tables))


def trace_notes(process: ProcessRecords) -> list[tuple[str, str]]:
    """What the profiler saw, beside what the events around next() say of the same steps."""
    notes = []
    for window in table(process, "trace_window").itertuples():
        span_ns = window.end_ns - window.first_ns
        if span_ns <= 0 or window.steps == 0:
            continue
        text = (
            f"torch's profiler watched {window.steps} more steps: the device ran nothing for "
            f"{window.idle_ns / span_ns:.1%} of the time, {window.idle_in_next_ns / span_ns:.1%} of it inside next()."
        )
        waited = _waited_on_the_device(process, window.first_ns, window.end_ns)
        if waited is not None:
            text += f" Events around next() say {waited / span_ns:.1%} for the same steps."
        notes.append((SLUG, text))
    return notes


def _waited_on_the_device(process: ProcessRecords, first_ns: int, end_ns: int) -> float | None:
    """Exposed wait of the steps in a span, by the device clock, ns; None where no step was measured."""
    calls, steps = table(process, "next"), table(process, "device_step")
    inside = calls[(calls["begin_ns"] >= first_ns) & (calls["begin_ns"] < end_ns)]
    measured = inside.merge(steps, on=["iterator", "ordinal"])
    return float((measured["wait_ns"] * measured["every"]).sum()) if len(measured) else None
