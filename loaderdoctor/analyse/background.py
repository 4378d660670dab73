"""A thread of the script's own that fetches for the one that trains: when the training waits, by its thread's CPU time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from loaderdoctor.probe.layout import UNKNOWN

if TYPE_CHECKING:
    import pandas as pd

    from loaderdoctor.record.run import ProcessRecords

ALWAYS = (
    0.95  # of its time that the thread waits for batches: it never stood long at a queue that the training left full
)
FEWEST = 16  # optimizer steps: CPU time is counted in ticks by some kernels


def as_trained(steps: pd.DataFrame, optimizer: pd.DataFrame, main: ProcessRecords) -> pd.DataFrame | None:
    """The steps of the thread that fetches, with `got_ns` and `wait_ns` as the thread that trains has them; None if not known.

    Where the thread that fetches is never held up by a full queue, the one that trains has used up all that there is, and
    what it does not compute it waits.  A device computes beside its thread: `main` must have used none.
    """
    own = steps[steps["measured"]]
    threads = optimizer["thread"].unique()
    if len(own) == 0 or len(threads) != 1 or len(optimizer) < FEWEST or main.seen is not None:
        return None
    if any(kind in main.tables for kind in ("device_step", "copy")) or (optimizer["cpu_ns"] == UNKNOWN).any():
        return None
    if own["wait_ns"].sum() < ALWAYS * own["chunk_ns"].sum():
        return None
    at = [np.interp(steps[name], optimizer["end_ns"], optimizer["cpu_ns"]) for name in ("begin_ns", "end_ns")]
    length_ns = (steps["end_ns"] - steps["begin_ns"]).to_numpy()
    computed_ns = np.minimum(at[1] - at[0], length_ns).astype(np.int64)
    wait_ns = length_ns - computed_ns + steps["build_ns"]
    return steps.assign(got_ns=steps["end_ns"] - computed_ns, wait_ns=wait_ns)
