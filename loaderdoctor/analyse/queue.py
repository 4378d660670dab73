"""What lay ready when the consumer asked: finished batches, and finished later ones behind an unfinished one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.analyse import stats
from loaderdoctor.analyse.frames import in_loop, table
from loaderdoctor.values import Missing

if TYPE_CHECKING:
    import pandas as pd

    from loaderdoctor.analyse.timeline import Timeline
    from loaderdoctor.record.run import ProcessRecords
    from loaderdoctor.values import Value

_NO_COUNT = Missing("no-queue-count", "This system cannot say how many batches wait in a queue.")


def ready(steps: pd.DataFrame) -> tuple[Value, Value]:
    """(median of the batches ready at a request, share of the requests that found none) of a loader with workers.

    Batches that arrived before their turn are ready as well: `head_of_line` tells whether they were of use.
    """
    known = steps[steps["ready"] >= 0]
    if len(known) == 0:
        return _NO_COUNT, _NO_COUNT
    batches = known["ready"] + known["stash"].clip(lower=0)
    return stats.median(batches, "batches"), stats.mean(batches == 0, "share")


def head_of_line(steps: pd.DataFrame, timeline: Timeline, main: ProcessRecords) -> Value:
    """Share of the waits that ended with finished later batches parked: one slow batch held them up."""
    if len(table(main, "arrival")) == 0 or len(steps) == 0:
        return Missing("no-arrivals", "No arrival of a batch from a worker was recorded.")
    next_ns = (steps["got_ns"] - steps["begin_ns"]).astype(float)
    if next_ns.sum() <= 0:
        return Missing("no-waits", "The loader never waited.")
    return stats.ratio(held_up_ns(steps, timeline, main), next_ns, "share")


def held_up_ns(steps: pd.DataFrame, timeline: Timeline, main: ProcessRecords) -> pd.Series[float]:
    """The wait of each step that ended with finished later batches parked; 0 of the others.

    A wait has parked batches where some arrived out of turn before it, or while it lasted.
    """
    arrivals = in_loop(table(main, "arrival"), timeline.loops, "begin_ns")
    early = arrivals[(arrivals["batch"] >= 0) & (arrivals["batch"] > arrivals["wanted"])]
    asked = early.groupby(["loop", "wanted"]).size().rename("parked").reset_index()
    waits = steps.merge(asked, left_on=["loop", "key"], right_on=["loop", "wanted"], how="left")
    next_ns = (waits["got_ns"] - waits["begin_ns"]).astype(float)
    # A batch that was itself parked is handed over at once, whatever lies beside it.
    in_turn = arrivals[arrivals["batch"] == arrivals["wanted"]].drop_duplicates(["loop", "batch"])
    waits = waits.merge(
        in_turn[["loop", "batch"]].rename(columns={"batch": "key"}), on=["loop", "key"], how="left", indicator="turn"
    )
    parked = (waits["turn"] == "both") & ((waits["parked"].fillna(0) > 0) | (waits["stash"] > 0))
    return next_ns.where(parked, 0.0).set_axis(steps.index)
