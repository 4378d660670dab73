"""What the training itself takes of the CPUs, by what its process used beside the loader's part of each step."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from loaderdoctor.analyse import stats
from loaderdoctor.analyse.counters import Change, ratio, within
from loaderdoctor.analyse.frames import NS, table
from loaderdoctor.analyse.steady import OTHER_LOOP, steady_of
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt
    import pandas as pd

    from loaderdoctor.analyse.counters import Row
    from loaderdoctor.analyse.loaders import Loader
    from loaderdoctor.analyse.ranks import Rank
    from loaderdoctor.analyse.timeline import Timeline
    from loaderdoctor.record.run import Run

    Times = npt.NDArray[np.int64]

NOT_SAMPLED = Missing("training-not-sampled", "The training process was not sampled while it computed for long enough.")
NO_STEPS = Missing("no-steps", "Too few steps without an evaluation inside were recorded.")
NONE_SLOW = Missing("no-slow-steps", "No step computes much longer than the others.")
FEWEST_STEPS = 20
MANY_TIMES = 3.0  # the median: steps of one script differ by less, unless they do something else
LEAST_COMPUTE_S = 0.5  # the kernel counts CPU time in hundredths of a second, and a row a second has one at each end


def compute_cores(run: Run, rank: Rank, timeline: Timeline) -> Value:
    """Cores that the training process keeps busy outside next(): all its threads, the pin thread's copies left out.

    Threads of a pool that still spin when the step has ended are counted to the step.
    """
    found = _stretches(run, rank, timeline)
    if sum(change.over for change in found) < LEAST_COMPUTE_S:
        return NOT_SAMPLED
    return ratio(found, "cores", NOT_SAMPLED)


def run_queue_share(run: Run, rank: Rank, timeline: Timeline) -> Value:
    """Share of its time in which the training's main thread was ready to run and had no core."""
    rows = _rows(run, rank, timeline, "main_thread_run_queue_s")
    found = [
        Change(
            later["main_thread_run_queue_s"] - earlier["main_thread_run_queue_s"],
            (later["at_ns"] - earlier["at_ns"]) / NS,
        )
        for earlier, later in _pairs(rows)
    ]
    return ratio(found, "share", NOT_SAMPLED, highest=1.0)


def _stretches(run: Run, rank: Rank, timeline: Timeline) -> list[Change]:
    """From row to row: CPU time outside next(), over the time outside it."""
    calls, pins = table(rank.main, "next"), table(rank.main, "pin")
    calls = calls[(calls["depth"] <= 0) & (calls["thread"] == timeline.thread)]
    found = []
    for earlier, later in _pairs(_rows(run, rank, timeline, "cpu_s")):
        begin_ns, end_ns = earlier["at_ns"], later["at_ns"]
        inside = _overlap(calls["begin_ns"], calls["end_ns"], begin_ns, end_ns)
        length = np.maximum(1, (calls["end_ns"] - calls["begin_ns"]).to_numpy())
        waiting_cpu_ns = float((calls["main_cpu_ns"].clip(lower=0).to_numpy() * inside / length).sum())
        pinned = pins[(pins["begin_ns"] >= begin_ns) & (pins["end_ns"] < end_ns)]
        cpu_s = later["cpu_s"] - earlier["cpu_s"] - (waiting_cpu_ns + float(pinned["cpu_ns"].clip(lower=0).sum())) / NS
        found.append(Change(max(0.0, cpu_s), max(0.0, (end_ns - begin_ns - float(inside.sum())) / NS)))
    return found


def _overlap(begins: Sequence[int], ends: Sequence[int], begin_ns: int, end_ns: int) -> Times:
    inside: Times = np.maximum(0, np.minimum(ends, end_ns) - np.maximum(begins, begin_ns))
    return inside


def _rows(run: Run, rank: Rank, timeline: Timeline, field: str) -> list[Row]:
    """The process's own rows after warm-up that have the field."""
    rows = run.rows("processes")
    if rank.main.seen is not None:
        return _in_stretches(rows, rank, timeline, field)
    return [
        {"at_ns": row["at_ns"], **process}
        for row in within(rows, (timeline.from_ns, timeline.to_ns))
        for process in row["processes"]
        if process["pid"] == rank.main.pid and field in process and timeline.from_ns <= row["at_ns"] <= timeline.to_ns
    ]


def _in_stretches(rows: Sequence[Row], rank: Rank, timeline: Timeline, field: str) -> list[Row]:
    """Those in the stretches of a long run that were looked at, at their joined times; `stretch` is which."""
    seen = rank.main.seen
    own = [
        {"at_ns": row["at_ns"], **process}
        for row in rows
        for process in row["processes"]
        if process["pid"] == rank.main.pid and field in process
    ]
    if seen is None or not own:
        return []
    times = np.asarray([row["at_ns"] for row in own], dtype=np.int64)
    places, joined = seen.place(times).tolist(), seen.joined(times).tolist()
    return [
        row | {"at_ns": at_ns, "stretch": place}
        for row, place, at_ns in zip(own, places, joined, strict=True)
        if place >= 0 and timeline.from_ns <= at_ns <= timeline.to_ns
    ]


def _pairs(rows: Sequence[Row]) -> Iterator[tuple[Row, Row]]:
    """Neighbours between which nothing was left out."""
    return ((one, other) for one, other in pairwise(rows) if one.get("stretch") == other.get("stretch"))


def slow_steps(steps: pd.DataFrame, main: Loader | None, roles: Mapping[int, str]) -> tuple[Value, Value]:
    """(computing beyond the median in steps of many times the median, of all steps' time; of that, in their first third).

    Of all steps of the main loader, warm-up and all; steps with an evaluation inside are left out.
    """
    if main is None:
        return NO_STEPS, NO_STEPS
    _, excluded = steady_of(steps, main, roles)
    own = steps[steps["loader"].isin(main.numbers)]
    if OTHER_LOOP in excluded or len(own) < FEWEST_STEPS:
        return NO_STEPS, NO_STEPS
    compute_ns = (own["end_ns"] - own["got_ns"] - own["held_ns"]).to_numpy(dtype=float)
    median_ns = float(np.median(compute_ns))
    excess_ns = np.where(compute_ns > MANY_TIMES * median_ns, compute_ns - median_ns, 0.0)
    slow = stats.ratio(excess_ns, (own["end_ns"] - own["begin_ns"]).to_numpy(dtype=float), "share")
    if excess_ns.sum() <= 0:
        return slow, NONE_SLOW
    early = np.where(np.arange(len(own)) < len(own) / 3, excess_ns, 0.0)
    return slow, Measured.exact(float(early.sum() / excess_ns.sum()), "share", int((excess_ns > 0).sum()))
