"""By how much longer a step computes after a long wait for its batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

SHORT_WAIT_NS = 2_000_000  # handing a ready batch over takes less
LONG_WAIT_NS = (
    5_000_000  # by then the core slept, or made a batch itself: its caches and clock are no longer the training's
)
FEWEST = 20  # steps of each kind; the medians of fewer differ by chance
MOST = 0.4  # 30 ms for 22 ms was measured; a step that is slower still does something else
STARTS_FOR = 3  # steps at the head of an epoch, which have costs of their own


def cold_of(steps: pd.DataFrame) -> float | None:
    """The share that comes on top of the median step; None where the run has too few steps with, or without, a wait.

    `steps` are one loader's in order, on the host's clock.
    """
    late = steps[steps["measured"] & (steps.groupby("loop").cumcount() >= STARTS_FOR)]
    compute_ns = late["end_ns"] - late["got_ns"] - late["held_ns"]
    short, long = compute_ns[late["wait_ns"] < SHORT_WAIT_NS], compute_ns[late["wait_ns"] >= LONG_WAIT_NS]
    if min(len(short), len(long)) < FEWEST or float(np.median(short)) <= 0:
        return None
    return float(np.clip(np.median(long) / np.median(short) - 1, 0.0, MOST))
