"""Which step of the whole run each step is that was looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from loaderdoctor.analyse.extent import steps_in_all

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy.typing as npt
    import pandas as pd

    from loaderdoctor.record.run import ProcessRecords

    Numbers = npt.NDArray[np.int64]


def numbers_of(steps: pd.DataFrame, main: ProcessRecords, loaders: Collection[int]) -> Numbers:
    """Steps of the training loaders up to each step, counted from the run's first one.

    Where only stretches of a long run were looked at, an estimate: how often an iterator was asked is known of each step, how
    often those before it were, of those that were seen to their end.
    """
    own = steps["loader"].isin(loaders).to_numpy()
    seen: Numbers = np.cumsum(own)
    whole = steps_in_all(main, int(own.sum()))
    if whole == int(own.sum()) or not own.any():
        return seen.clip(min=1)
    asked = steps.loc[own].groupby("iterator", sort=False)["ordinal"].max() + 1
    longest = int(asked.max())
    numbers = asked.index.to_numpy()  # iterators are numbered in order: between two that were seen, others were
    earlier = np.concatenate([[0.0], np.cumsum(np.diff(numbers) * float(longest))])
    base = dict(zip(numbers.tolist(), earlier.tolist(), strict=True))
    told = steps.loc[own, "iterator"].map(base).to_numpy() + steps.loc[own, "ordinal"].to_numpy() + 1.0
    scaled = np.rint(np.maximum.accumulate(told) * whole / told.max()).astype(np.int64)
    numbered: Numbers = np.append(0, scaled)[seen].clip(min=1)
    return numbered
