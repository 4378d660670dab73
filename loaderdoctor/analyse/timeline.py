"""What the consumer of one training process did in order: its loops, its steps, and which of them count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from loaderdoctor.analyse.ends import NEVER, ends_of
from loaderdoctor.analyse.frames import calls_of, loops_of, table
from loaderdoctor.analyse.nesting import own_times
from loaderdoctor.analyse.waits import with_endings, with_handing_over
from loaderdoctor.probe.layout import CONTINUED, NEXT_BATCH

if TYPE_CHECKING:
    from loaderdoctor.record.run import ProcessRecords

WARM_UP_SHARE = 0.1  # of all steps: the first ones allocate, compile and fill caches, and longer runs do so for longer
LEAST_WARM_UP = 3  # steps: the first pays for imports, the second for what the first one's memory left, ...
MOST_WARM_UP = 200  # steps: compilers and allocators have settled by then, and dropping more would only lose data


@dataclass(frozen=True)
class Timeline:
    """The consumer thread of one process.

    `steps` has a row a batch, in order of their ends: loop, loader, iterator, ordinal, key, begin_ns (asked), got_ns, end_ns,
    build_ns (of the iterator, with its first batch), wait_ns (build and next()), is_first (of its loop), ready, stash,
    loop_number (which one over its loader), clock_end_ns (end_ns before the gaps of a long run were cut out),
    optimized (optimizer steps within), own_ns (without steps of other loops inside), chunk_ns (from the end of the step before), measured (after warm-up).
    `calls` are all outermost calls of next() of the process.
    """

    loops: pd.DataFrame
    calls: pd.DataFrame
    steps: pd.DataFrame
    thread: int
    trains_elsewhere: bool  # another thread makes the optimizer's steps: this one only fetches for it
    nested_calls: int
    other_threads: int  # threads that iterate loaders besides the consumer
    warm_up: int  # steps
    from_ns: int  # end of warm-up
    to_ns: int  # end of the last step

    @property
    def measured_s(self) -> float:
        """The time after warm-up."""
        return (self.to_ns - self.from_ns) / 1e9

    @property
    def taken_from(self) -> set[int]:
        """The loaders of which the consumer took a batch, whether or not the step with it ended."""
        calls = self.calls
        mine = calls[(calls["thread"] == self.thread) & (calls["status"] == NEXT_BATCH)]
        return set(mine["loader"].tolist())

    @property
    def measured(self) -> pd.DataFrame:
        """The steps after warm-up."""
        return self.steps[self.steps["measured"]]


def timeline_of(main: ProcessRecords) -> Timeline:
    """The timeline of a process that took at least one batch."""
    loops = loops_of(main)
    everything = calls_of(main, loops)
    calls = everything[everything["depth"] <= 0].reset_index(drop=True)
    optimizer = table(main, "optimizer_step").sort_values("end_ns")
    thread = _consumer(calls, optimizer)
    mine = calls[calls["thread"] == thread]
    ends = ends_of(mine, loops[loops["thread"] == thread], main)
    steps = _steps(mine.assign(step_end_ns=ends), loops)
    steps = with_endings(with_handing_over(steps, main), mine, loops, main)
    steps["loop_number"] = steps["loop"].map(loops.sort_values("begin_ns").groupby("loader").cumcount())
    steps["clock_end_ns"] = steps["end_ns"] if main.seen is None else main.seen.apart_all(steps["end_ns"].to_numpy())
    steps["optimized"] = _within(optimizer["end_ns"].to_numpy(), steps)
    steps["own_ns"] = own_times(steps["begin_ns"].to_numpy(), steps["end_ns"].to_numpy())
    warm_up = warm_up_of(len(steps))
    from_ns = int(steps["end_ns"].iloc[warm_up - 1]) if warm_up else 0
    steps["chunk_ns"] = np.diff(steps["end_ns"], prepend=steps["begin_ns"].min() if len(steps) else 0)
    steps["measured"] = np.arange(len(steps)) >= warm_up
    return Timeline(
        loops=loops,
        calls=calls,
        steps=steps,
        thread=thread,
        trains_elsewhere=len(optimizer) > 0 and not bool((optimizer["thread"] == thread).any()),
        nested_calls=len(everything) - len(calls),
        other_threads=int(calls["thread"].nunique()) - 1,
        warm_up=warm_up,
        from_ns=from_ns,
        to_ns=int(steps["end_ns"].iloc[-1]) if len(steps) else 0,
    )


def warm_up_of(steps: int) -> int:
    """How many of a run's first steps do not count."""
    return min(steps, max(LEAST_WARM_UP, min(MOST_WARM_UP, int(WARM_UP_SHARE * steps))))


def _consumer(calls: pd.DataFrame, optimizer: pd.DataFrame) -> int:
    """The thread that trains, where it also asks for batches; else the one that spends most time from call to call."""
    spans = calls.groupby("thread")["begin_ns"].agg(lambda times: times.max() - times.min())
    training = spans[spans.index.isin(optimizer["thread"])]
    return int((training if len(training) else spans).idxmax())


def _steps(calls: pd.DataFrame, loops: pd.DataFrame) -> pd.DataFrame:
    """A row a batch whose step ended; the last step of a killed process is none."""
    batches = calls[(calls["status"] == NEXT_BATCH) & (calls["step_end_ns"] < NEVER)]
    steps = batches.rename(columns={"end_ns": "got_ns"}).rename(columns={"step_end_ns": "end_ns"})
    steps["is_first"] = ~steps["loop"].duplicated() & steps["loop"].map(loops["how"] != CONTINUED)
    build_ns = (loops["end_ns"] - loops["begin_ns"]).reindex(steps["loop"]).to_numpy()
    steps["build_ns"] = np.where(steps["is_first"], build_ns, 0)
    steps["wait_ns"] = steps["got_ns"] - steps["begin_ns"] + steps["build_ns"]
    return steps.sort_values("end_ns", kind="stable").reset_index(drop=True)


def _within(times: np.ndarray[tuple[int], np.dtype[np.int64]], steps: pd.DataFrame) -> pd.Series[int]:
    """How many of the sorted `times` each step holds, from its batch to its end."""
    return pd.Series(
        np.searchsorted(times, steps["end_ns"], side="right") - np.searchsorted(times, steps["got_ns"]),
        index=steps.index,
    )
