"""The steady steps of the main training loader, and what they consist of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from loaderdoctor.analyse import stats
from loaderdoctor.analyse.exposure import DEVICE
from loaderdoctor.analyse.frames import NS
from loaderdoctor.analyse.loaders import TRAIN
from loaderdoctor.analyse.signals import WARM_UP, StepSignals, StepTimes
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from loaderdoctor.analyse.loaders import Loader

FIRST_OF_EPOCH, OTHER_LOOP = "first-of-epoch", "other-loop"
_NO_COPIES = Missing("no-device-clock", "Copies to the device are timed by its own clock, which was not available.")
NO_STEPS = Missing("no-steady-steps", "No step after warm-up was free of epoch starts and evaluations.")


def steady_of(steps: pd.DataFrame, main: Loader, roles: Mapping[int, str]) -> tuple[pd.DataFrame, dict[str, int]]:
    """The steady steps, and how many steps were left out for which reason.

    A step counts for the first reason that holds.  They get span_ns, from request to request, and inside_ns: waits for other
    training loaders in between.
    """
    own = steps[steps["loader"].isin(main.numbers)]
    others = steps[~steps["loader"].isin(main.numbers)].sort_values("begin_ns")
    evaluations = others[others["loader"].map(roles) != TRAIN]
    own = own.assign(
        span_ns=own["end_ns"] - own["begin_ns"],
        inside_ns=_sum_within(own, others[others["loader"].map(roles) == TRAIN]),
        evaluated=_count_within(own, evaluations),
    )
    reasons = np.select(
        [~own["measured"], own["is_first"], own["evaluated"] > 0], [WARM_UP, FIRST_OF_EPOCH, OTHER_LOOP], ""
    )
    excluded = {reason: int((reasons == reason).sum()) for reason in (WARM_UP, FIRST_OF_EPOCH, OTHER_LOOP)}
    return own[reasons == ""], {reason: count for reason, count in excluded.items() if count}


def step_signals(
    steady: pd.DataFrame, excluded: Mapping[str, int], samples: float | None, clock: str, *, copies_known: bool
) -> StepSignals:
    """The partition of the steady steps; `samples` is the mean size of a batch, None where that is not known."""
    if len(steady) == 0:
        return no_steps(NO_STEPS, excluded)
    span_ns = (steady["device_step_ns"] if clock == DEVICE else steady["span_ns"]).astype(float)
    wait_ns = np.minimum(steady["exposed_ns"] + steady["inside_ns"], span_ns)
    copy_ns = np.minimum(steady["copy_ns"], span_ns - wait_ns)
    compute_ns = span_ns - wait_ns - copy_ns
    return StepSignals(
        count=len(steady),
        excluded=excluded,
        median_s=stats.median(span_ns / NS, "s"),
        samples_per_s=_rate(samples, span_ns),
        data_wait_share=stats.ratio(wait_ns, span_ns, "share"),
        h2d_share=stats.ratio(copy_ns, span_ns, "share") if copies_known else _NO_COPIES,
        compute_share=stats.ratio(compute_ns, span_ns, "share"),
        other_share=Measured.exact(0.0, "share", len(steady)),  # steps with anything else in them are left out
        series=tuple(zip(*((part / NS).tolist() for part in (wait_ns, copy_ns, compute_ns)), strict=True)),
    )


def step_times(steps: pd.DataFrame, roles: Mapping[int, str], *, is_whole: bool) -> StepTimes:
    """Of a rank; `is_whole`: every step of the run is there, so that their numbers are the run's own."""
    measured = steps[steps["measured"]]
    kinds = 2 * pd.factorize(measured["loader"])[0] + measured["is_first"].to_numpy()
    return StepTimes(
        seconds=tuple((measured["chunk_ns"] / NS).tolist()),
        kinds=tuple(int(kind) for kind in kinds),
        is_training=tuple((measured["loader"].map(roles) == TRAIN).tolist()),
        first=len(steps) - len(measured) if is_whole else None,
    )


def no_steps(reason: Missing, excluded: Mapping[str, int]) -> StepSignals:
    """What is said of steps where there are none."""
    return StepSignals(
        count=0,
        excluded=excluded,
        median_s=reason,
        samples_per_s=reason,
        data_wait_share=reason,
        h2d_share=reason,
        compute_share=reason,
        other_share=reason,
    )


def _rate(samples: float | None, span_ns: pd.Series[float]) -> Value:
    if samples is None:
        return Missing("no-batch-size", "How many samples a batch has was not recorded.")
    return stats.ratio(np.full(len(span_ns), samples), span_ns / NS, "samples/s")


def _count_within(own: pd.DataFrame, others: pd.DataFrame) -> npt.NDArray[np.float64]:
    return _sum_within(own, others.assign(exposed_ns=1.0))


def _sum_within(own: pd.DataFrame, others: pd.DataFrame) -> npt.NDArray[np.float64]:
    """The exposed waits of the other steps that begin within each step."""
    begun_ns = others["begin_ns"].to_numpy()
    summed = np.concatenate([[0.0], np.cumsum(others["exposed_ns"].to_numpy())])
    first, last = (np.searchsorted(begun_ns, own[name].to_numpy()) for name in ("begin_ns", "end_ns"))
    within: npt.NDArray[np.float64] = summed[last] - summed[first]
    return within
