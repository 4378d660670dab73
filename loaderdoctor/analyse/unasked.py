"""Training that goes on without asking a loader: over batches that are kept, or from a replay buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from loaderdoctor.probe.layout import UNKNOWN

if TYPE_CHECKING:
    import numpy.typing as npt

    Times = npt.NDArray[np.int64]

MOST_ROWS = (
    500  # of one stretch: neighbouring steps are added up, which keeps the time and the interval of shares over it
)
NO_LOADER = -2  # UNKNOWN stands for a loader that left no record
_TIMES = ("begin_ns", "got_ns", "end_ns")


def with_unasked(steps: pd.DataFrame, begun_ns: Times, optimized_ns: Times) -> pd.DataFrame:
    """The steps, and rows of no loader (`loader` is NO_LOADER) for the optimizer's steps that lie outside of all of them.

    They begin where the step before ended, and wait for nothing: the time of the run goes on while steps go on, asked for
    or not.  `begun_ns` are the beginnings of loops: the time until the first batch of one is no part of such a step.
    """
    outside = _outside(steps, optimized_ns)
    if len(outside) == 0:
        return steps
    marks = np.sort(np.concatenate([steps["end_ns"].to_numpy(), outside]))
    before = marks[np.searchsorted(marks, outside) - 1]
    stretch = np.searchsorted(np.sort(begun_ns), outside)
    kept = _last_of_groups(stretch)
    begin_ns = before[np.concatenate([[0], kept[:-1] + 1])]
    rows = pd.DataFrame({name: np.full(len(kept), UNKNOWN, dtype=np.int64) for name in steps.columns})
    rows = rows.assign(
        **dict.fromkeys(("build_ns", "wait_ns", "ready", "stash", "sampler_ns"), 0), is_first=False, loader=NO_LOADER
    )
    rows = rows.assign(**dict.fromkeys(_TIMES[:2], begin_ns), end_ns=outside[kept], ordinal=np.arange(len(kept)))
    rows = rows[list(steps.columns)]
    joined = pd.concat([steps, rows.astype(steps.dtypes)], ignore_index=True)
    return joined.sort_values("end_ns", kind="stable").reset_index(drop=True)


def is_asked(steps: pd.DataFrame) -> pd.Series[bool]:
    """Which of the steps began with a batch of a loader."""
    return steps["loader"] != NO_LOADER


def _outside(steps: pd.DataFrame, optimized_ns: Times) -> Times:
    """The times after the first step's beginning that lie in no step, from its request to its end."""
    if len(steps) == 0:
        return optimized_ns[:0]
    spans = steps.sort_values("begin_ns")
    latest_ns = np.maximum.accumulate(spans["end_ns"].to_numpy())
    last = np.searchsorted(spans["begin_ns"].to_numpy(), optimized_ns, side="right") - 1
    is_outside = (last >= 0) & (latest_ns[last.clip(min=0)] < optimized_ns)
    outside: Times = optimized_ns[is_outside]
    return outside


def _last_of_groups(stretch: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The places of the last step of each group: no stretch has more than MOST_ROWS of them."""
    first = np.concatenate([[0], np.flatnonzero(np.diff(stretch)) + 1])
    length = np.diff(np.append(first, len(stretch)))
    place = np.arange(len(stretch)) - np.repeat(first, length)
    per_row = np.repeat(-(-length // MOST_ROWS), length)
    ends_group = (place + 1) % per_row == 0
    ends_group[first + length - 1] = True
    return np.flatnonzero(ends_group)
