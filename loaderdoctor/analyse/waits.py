"""Waits beside next() itself: handing a batch over to the loop, and ending an iterator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from loaderdoctor.analyse.frames import table
from loaderdoctor.analyse.unasked import is_asked
from loaderdoctor.probe.layout import NEXT_END

if TYPE_CHECKING:
    import numpy.typing as npt

    from loaderdoctor.record.run import ProcessRecords

MOST_HANDING_OVER = 0.9  # of what the loop does with a batch; a listener that was late would leave nothing of it


def with_handing_over(steps: pd.DataFrame, main: ProcessRecords) -> pd.DataFrame:
    """The steps with the time from next() to the loop's having the batch, which is wait: the mean of those listened to.

    The first step of a loop gives no batch back.
    """
    heard = table(main, "handed_over")
    if len(heard) == 0 or len(steps) == 0:
        return steps
    loaders = steps.drop_duplicates("iterator").set_index("iterator")["loader"]
    took = (heard["end_ns"] - heard["begin_ns"]).groupby(heard["iterator"].map(loaders)).mean()
    own_ns = steps["end_ns"] - steps["got_ns"]
    handing_ns = steps["loader"].map(took).fillna(0.0).where(~steps["is_first"], 0.0)
    handing_ns = np.minimum(handing_ns, own_ns * MOST_HANDING_OVER).astype(np.int64)
    return steps.assign(got_ns=steps["got_ns"] + handing_ns, wait_ns=steps["wait_ns"] + handing_ns)


def with_endings(steps: pd.DataFrame, calls: pd.DataFrame, loops: pd.DataFrame, main: ProcessRecords) -> pd.DataFrame:
    """The steps, each with the ends of iterators before it in its `build_ns` and `wait_ns`: they hold the loop up as well.

    That is the last next() of an epoch, which ends the workers, and giving up an iterator that was not used up.
    """
    if len(steps) == 0:
        return steps
    last = calls.loc[calls["status"] == NEXT_END, ["begin_ns", "end_ns"]]
    ends = pd.concat([last, _given_up(calls, loops, main)], ignore_index=True)
    place = _next_asked(steps)[np.searchsorted(steps["end_ns"].to_numpy(), ends["begin_ns"].to_numpy(), side="right")]
    within = place < len(steps)
    ended_ns = np.zeros(len(steps), dtype=np.int64)
    np.add.at(ended_ns, place[within], (ends["end_ns"] - ends["begin_ns"]).to_numpy()[within])
    return steps.assign(build_ns=steps["build_ns"] + ended_ns, wait_ns=steps["wait_ns"] + ended_ns)


def _next_asked(steps: pd.DataFrame) -> npt.NDArray[np.int64]:
    """For each place, and the one past the end, the next step that began with a batch; where there is none, the place itself."""
    places = np.arange(len(steps) + 1)
    asked = np.append(np.where(is_asked(steps), places[:-1], len(steps)), len(steps))
    later = np.minimum.accumulate(asked[::-1])[::-1]
    return np.where(later < len(steps), later, places)


def _given_up(calls: pd.DataFrame, loops: pd.DataFrame, main: ProcessRecords) -> pd.DataFrame:
    """Shutdowns of workers outside of next() and of the building of an iterator, which hold those of their own."""
    ends = table(main, "shutdown")[["begin_ns", "end_ns"]]
    inside = np.zeros(len(ends), dtype=bool)
    for spans in (calls, loops):
        begun = spans["begin_ns"].to_numpy()
        order = np.argsort(begun, kind="stable")
        last = np.searchsorted(begun[order], ends["begin_ns"].to_numpy(), side="right") - 1
        until = np.where(last >= 0, spans["end_ns"].to_numpy()[order[last.clip(min=0)]] if len(spans) else 0, 0)
        inside |= (last >= 0) & (ends["begin_ns"].to_numpy() < until)
    return ends[~inside]
