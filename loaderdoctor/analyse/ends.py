"""When each step ended, from what the consumer did next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from loaderdoctor.analyse.frames import table

if TYPE_CHECKING:
    import numpy.typing as npt

    from loaderdoctor.record.run import ProcessRecords

    Times = npt.NDArray[np.int64]

NEVER = np.iinfo(np.int64).max


def ends_of(calls: pd.DataFrame, loops: pd.DataFrame, main: ProcessRecords) -> Times:
    """When the step that each call began ended, ns; NEVER where nothing tells.

    `calls` are those of one thread in order.  A step lasts until its loop asks again, or a loop that began earlier does:
    then this one was left.  Whether it was left sooner shows in what came between.
    """
    loop, begin_ns = calls["loop"].to_numpy(), calls["begin_ns"].to_numpy()
    asker = _first_later_not_above(loop)
    ends: Times = np.where(asker >= 0, begin_ns[asker], NEVER)
    left = np.flatnonzero(((asker < 0) | (loop[asker] != loop)) & ~calls["loop"].duplicated(keep="last"))
    if len(left):
        ends[left] = _left(calls, left, ends, loops, main)
    return ends


def _first_later_not_above(values: Times) -> Times:
    """For each place the next one with a value that is not larger, or -1.

    One pass with a stack of the places still open, whose values rise.
    """
    found = np.full(len(values), -1, dtype=np.int64)
    open_places: list[int] = []
    for place, value in enumerate(values.tolist()):
        while open_places and values[open_places[-1]] >= value:
            found[open_places.pop()] = place
        open_places.append(place)
    return found


def _left(calls: pd.DataFrame, left: Times, every_end: Times, loops: pd.DataFrame, main: ProcessRecords) -> Times:
    """Ends of the steps in which a loop was left by `break`, an exception, or the end of the process."""
    # The workers of an iterator stop when a `break` lets go of it; a loop begins; --steps or --seconds ended the script.
    shutdowns = table(main, "shutdown")
    stops = table(main, "end")
    begun_ns = np.sort(loops["begin_ns"].to_numpy())
    asked_to_end_ns = np.sort(stops.loc[stops["why"] > 0, "at_ns"].to_numpy())
    exits_ns = np.sort(stops["at_ns"].to_numpy())
    optimized_ns = np.sort(table(main, "optimizer_step")["end_ns"].to_numpy())
    most = _most_optimized(calls, every_end, optimized_ns)
    result: Times = every_end[left]
    last = calls.iloc[left]
    for place, (loop, iterator, got_ns) in enumerate(zip(last["loop"], last["iterator"], last["end_ns"], strict=True)):
        own = np.sort(shutdowns.loc[shutdowns["iterator"] == iterator, "begin_ns"].to_numpy())
        known = min(result[place], *(_next(times, got_ns) for times in (own, begun_ns, asked_to_end_ns)))
        # After the loop there may be an evaluation by hand, a checkpoint, a plot; the optimizer's step is still in it.
        latest = min(known, _next(exits_ns, got_ns))
        first, after = np.searchsorted(optimized_ns, [got_ns, latest], side="right")
        stepped = min(after, first + most.get(loop, after)) - 1
        result[place] = optimized_ns[stepped] if stepped >= first else known
    return result


def _most_optimized(calls: pd.DataFrame, ends: Times, optimized_ns: Times) -> dict[int, int]:
    """How many optimizer steps a batch of each loop had at most, one at least, the loop's last batch left out.

    What comes beyond after the last one is no work on it: the script has kept the batches, and goes on with them.
    """
    counts = np.searchsorted(optimized_ns, ends, side="right") - np.searchsorted(optimized_ns, calls["end_ns"])
    others = calls["loop"].duplicated(keep="last").to_numpy()
    most = pd.Series(counts[others]).groupby(calls["loop"].to_numpy()[others]).max().clip(lower=1)
    return {int(loop): int(count) for loop, count in most.items()}


def _next(times: Times, after_ns: int) -> int:
    place = int(np.searchsorted(times, after_ns))
    return int(times[place]) if place < len(times) else int(NEVER)
