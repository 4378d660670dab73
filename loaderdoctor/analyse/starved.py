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


_BATCH_BITS, _LOADER_BITS = 24, 44  # of the number of a step: 16 million batches of a loop, a million loops of a loader
_WAITS = ("low_ns", "exposed_ns", "high_ns")
NO_STEPS = Missing("no-measured-steps", "No step ended after warm-up.")
BACKGROUND = Missing(
    "background-consumer",
    "Batches are taken in a thread that does not train: how long the training itself waits for them was not recorded.",
)

FOLLOWED = (
    "Batches are taken in a thread that does not train. It never stood at a full queue, so the training waits whenever its own "
    "thread does not compute: the share is of its CPU time."
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
    longest = _longest(ranks, roles)
    waits = [longest[column].to_numpy(dtype=float)[counts] for column in _WAITS]
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


def _longest(ranks: Sequence[pd.DataFrame], roles: Sequence[Mapping[int, str]]) -> pd.DataFrame:
    """The longest exposed wait and copy of each step of the first rank over all ranks, and its bounds.

    Training and evaluation steps are counted apart, and from the run's start: an evaluation that only one rank runs
    shifts nothing, nor does the longer warm-up that a rank with more steps has.
    """
    longest = _waits(ranks[0])
    if len(ranks) == 1:
        return longest
    places = places_of(ranks[0], roles[0])
    for steps, its_roles in zip(ranks[1:], roles[1:], strict=True):
        other = _waits(steps).set_axis(places_of(steps, its_roles)).reindex(places)
        longest = np.fmax(longest, other.to_numpy())
    return longest


def _waits(steps: pd.DataFrame) -> pd.DataFrame:
    return steps[list(_WAITS)].astype(float).add(steps["copy_ns"], axis=0)


def places_of(steps: pd.DataFrame, roles: Mapping[int, str]) -> pd.MultiIndex:
    """The role of each step, and which it is of that role, as one number: what the steps of ranks are aligned by.

    By the loader, the loop over it and the batch, not by counting: of a long run each rank keeps steps of its own.
    """
    of_role = {role: sorted(loader for loader in roles if roles[loader] == role) for role in set(roles.values())}
    order = {loader: place for loaders in of_role.values() for place, loader in enumerate(loaders)}
    seen = steps["loader"].unique()
    role = steps["loader"].map({loader: roles.get(loader, EVAL) for loader in seen})
    loader = steps["loader"].map({loader: order.get(loader, loader) for loader in seen}).to_numpy(dtype=np.int64)
    loop, batch = steps["loop_number"].to_numpy(dtype=np.int64), steps["ordinal"].to_numpy(dtype=np.int64)
    return pd.MultiIndex.from_arrays([role, (loader << _LOADER_BITS) + (loop << _BATCH_BITS) + batch])
