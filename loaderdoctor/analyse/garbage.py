"""What full collections of Python's garbage collector cost: work that had one against the same work that had none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from loaderdoctor.analyse.stats import Z_95
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    import pandas as pd

FEWEST = 8  # rows, to compare with one another
FEWEST_COLLECTIONS = 4  # of fewer, the slowest rows may be by chance
NOT_COUNTED = Missing("not-recorded", "Collections of garbage were not counted then, or in too few batches.")
ALWAYS = Missing(
    "always-collected", "Garbage was collected equally often each time, so that nothing tells what it costs."
)


def share_of_collections(counts: pd.Series[float], took_ns: pd.Series[float], whole_ns: float) -> Value:
    """Share of the whole time that collections take: how much longer a row takes for each, times how many there were."""
    known = counts.notna() & took_ns.notna()
    x, y = counts[known].to_numpy(dtype=float), took_ns[known].to_numpy(dtype=float)
    if len(x) < FEWEST or whole_ns <= 0:
        return NOT_COUNTED
    if x.sum() < FEWEST_COLLECTIONS:
        return Measured.exact(0.0, "share", len(x))
    spread = float(((x - x.mean()) ** 2).sum())
    if spread <= 0:
        return ALWAYS
    slope = float(((x - x.mean()) * (y - y.mean())).sum()) / spread
    left = y - y.mean() - slope * (x - x.mean())
    error = float(np.sqrt((left**2).sum() / max(1, len(x) - 2) / spread))
    low, best, high = (
        min(1.0, max(0.0, float(end * x.sum() / whole_ns)))
        for end in (slope - Z_95 * error, slope, slope + Z_95 * error)
    )
    return Measured(best, low, high, int(x.sum()), "share")
