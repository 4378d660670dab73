"""The starved share: exposed waits and copies over the time after warm-up, of one rank and of a job of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from loaderdoctor.analyse import stats
from loaderdoctor.analyse.loaders import EVAL
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

NO_STEPS = Missing("no-measured-steps", "No step ended after warm-up.")
BACKGROUND = Missing(
    "background-consumer",
    "Batches are taken in a thread that does not train: how long the training itself waits for them was not recorded.",
)


def starved_share(measured: pd.DataFrame) -> Value:
    """Of one rank; `measured` are its steps after warm-up with their exposure."""
    return job_share([measured], [{}])


def job_share(ranks: Sequence[pd.DataFrame], roles: Sequence[Mapping[int, str]]) -> Value:
    """Of a job whose ranks wait for each other in each step: in each, the longest wait of any rank holds up all.

    Ranks, each with all of its steps, are aligned by the number of a step, never by the clock; the time is the first
    rank's after its warm-up.
    """
    if not ranks:
        return NO_STEPS
    counts = ranks[0]["measured"].to_numpy(dtype=bool)
    first = ranks[0][counts]
    time_ns = first["chunk_ns"].to_numpy(dtype=float)
    whole_ns = float(time_ns.sum())
    if whole_ns <= 0:
        return NO_STEPS
    waits = [_longest(ranks, roles, column)[counts] for column in ("low_ns", "exposed_ns", "high_ns")]
    kinds = 2 * pd.factorize(first["loader"])[0] + first["is_first"].to_numpy()
    best = stats.ratio(waits[1], time_ns, "share", kinds)
    # The clock's own bounds come on top of what steps differ by.
    lower, upper = (
        float(waits[1].sum() - waits[0].sum()) / whole_ns,
        float(waits[2].sum() - waits[1].sum()) / whole_ns,
    )
    value = _share(best.value)
    return Measured(value, min(value, _share(best.low - lower)), max(value, _share(best.high + upper)), best.n, "share")


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))


def _longest(ranks: Sequence[pd.DataFrame], roles: Sequence[Mapping[int, str]], column: str) -> npt.NDArray[np.float64]:
    """The longest exposed wait and copy of each step of the first rank over all ranks.

    Training and evaluation steps are counted apart, and from the run's start: an evaluation that only one rank runs
    shifts nothing, nor does the longer warm-up that a rank with more steps has.
    """
    frames = []
    for steps, its_roles in zip(ranks, roles, strict=True):
        role = steps["loader"].map(lambda loader, roles=its_roles: roles.get(loader, EVAL))
        frames.append(
            pd.DataFrame(
                {"role": role, "place": role.groupby(role).cumcount(), "wait_ns": steps[column] + steps["copy_ns"]}
            )
        )
    longest = frames[0].copy()
    for frame in frames[1:]:
        other = longest.merge(frame, on=["role", "place"], how="left", suffixes=("", "_other"))["wait_ns_other"]
        longest["wait_ns"] = np.fmax(longest["wait_ns"], other.to_numpy())
    waits: npt.NDArray[np.float64] = longest["wait_ns"].to_numpy(dtype=float)
    return waits
