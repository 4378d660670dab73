"""The ranks of one job beside each other: who holds up whom, and who loads at all.

Ranks that train together end each step together, since they exchange their gradients in it: steps are aligned by their
number, never by a clock.  The rank that got its batch last has least time left until that end: what another one has
beyond that, it spent waiting, whatever it looks like from inside.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from loaderdoctor.analyse import stats
from loaderdoctor.analyse.frames import table
from loaderdoctor.analyse.loaders import EVAL
from loaderdoctor.analyse.signals import ONE_RANK, JobSignals
from loaderdoctor.analyse.starved import places_of
from loaderdoctor.probe.layout import ROLE_MAIN
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from loaderdoctor.record.run import ProcessRecords, Run

    Floats = npt.NDArray[np.float64]

NOT_TOGETHER = Missing("ranks-not-together", "The training processes do not keep step: none of them waits for another.")
NO_COMMON = Missing("no-common-steps", "The ranks have too few steps in common.")
NO_RANK_CPU = Missing("rank-cpu-not-sampled", "The CPU time of the ranks was not sampled for long enough.")
FEWEST = 8  # steps in common; who is last in fewer says nothing
MOST_DRIFT = 1.0  # steps: ranks that wait for each other are never further apart, those that do not drift on and on
CLOCKS_DRIFT = 2e-4  # of the time: quartz is that bad at worst, and hosts that nobody synchronises go by it


def together(
    ranks: Sequence[pd.DataFrame], roles: Sequence[Mapping[int, str]], *, one_clock: bool = True
) -> list[pd.DataFrame]:
    """The steps of each rank with `held_ns`: how much of it, after its batch came, was a wait for the last rank.

    0 where one rank trains, where the ranks do not keep step, and in evaluations, which ranks run alone.
    """
    held = _held(ranks, roles, one_clock=one_clock)
    if held is None:
        return [steps.assign(held_ns=0.0) for steps in ranks]
    return [
        steps.assign(held_ns=held[column].reindex(steps.index).fillna(0.0).to_numpy())
        for (steps, column) in zip([_placed(*one) for one in zip(ranks, roles, strict=True)], held, strict=True)
    ]


def job_of(
    run: Run,
    computes: pd.DataFrame | Missing,
    ranks: Sequence[pd.DataFrame],
    roles: Sequence[Mapping[int, str]],
    *,
    shares: Sequence[Value],
    cores: Sequence[Value],
) -> JobSignals:
    """`ranks` are the steps of each, `shares` its own share of waiting, `cores` what its training keeps busy.

    `computes` is what `computes_of` makes of the ranks.
    """
    processes, loading = _processes(run), len(ranks)
    plain = JobSignals(
        processes=Measured.exact(float(max(processes, loading)), "processes"),
        loading=Measured.exact(float(loading), "processes"),
        compute_spread=_spread(cores),
    )
    if isinstance(computes, Missing):
        return replace(
            plain, last_wait_share=computes, others_wait_share=computes, held_share=computes, last_part=computes
        )
    spent = computes.to_numpy()
    held_ns = spent - spent.min(axis=1, keepdims=True)
    last = spent.argmin(axis=1)
    lost_ns = held_ns.sum(axis=1)
    by_rank = np.array([lost_ns[last == rank].sum() for rank in range(loading)])
    worst = int(by_rank.argmax())
    time_ns = _placed(ranks[worst], roles[worst])["chunk_ns"].reindex(computes.index).to_numpy(dtype=float)
    waits = [share if isinstance(share, Measured) else NO_COMMON for share in shares]
    others = [share for rank, share in enumerate(waits) if rank != worst and isinstance(share, Measured)]
    return replace(
        plain,
        last_wait_share=waits[worst],
        others_wait_share=max(others, key=lambda share: share.value, default=NO_COMMON),
        held_share=stats.ratio(lost_ns / (loading - 1), time_ns, "share") if time_ns.sum() > 0 else NO_COMMON,
        last_part=stats.ratio(np.where(last == worst, lost_ns, 0.0), lost_ns, "share")
        if lost_ns.sum() > 0
        else NO_COMMON,
        last_rank=worst,
    )


def lead_of(shares: Sequence[Value], job: JobSignals) -> int:
    """The rank that a job of several is explained by: the one that holds up the others, where one does; else the first."""
    rank = job.last_rank
    if rank is None:
        return 0
    own, first = shares[rank], shares[0]
    waits_more = isinstance(own, Measured) and isinstance(first, Measured) and own.low > first.high
    return rank if waits_more else 0


def _processes(run: Run) -> int:
    """Training processes that the launcher, or torch.distributed, says there are."""
    return max((_world_size(process) for process in run.processes if process.header["role"] == ROLE_MAIN), default=1)


def _world_size(process: ProcessRecords) -> int:
    told = table(process, "rank")["world_size"]
    return int(told.iloc[-1]) if len(told) else int(process.header["world_size"])


def _placed(steps: pd.DataFrame, roles: Mapping[int, str]) -> pd.DataFrame:
    """The steps by role and number, evaluations apart."""
    return steps.set_index(places_of(steps, roles))


def _held(ranks: Sequence[pd.DataFrame], roles: Sequence[Mapping[int, str]], *, one_clock: bool) -> pd.DataFrame | None:
    computes = computes_of(ranks, roles, measured=False, one_clock=one_clock)
    return None if isinstance(computes, Missing) else computes.sub(computes.min(axis=1), axis=0)


def computes_of(
    ranks: Sequence[pd.DataFrame],
    roles: Sequence[Mapping[int, str]],
    *,
    measured: bool = True,
    one_clock: bool = True,
) -> pd.DataFrame | Missing:
    """A row a common training step: of each rank, the time from its batch until its step's end.

    Missing where they do not keep step; clocks of several hosts begin anywhere, and run on at nearly the same pace.
    """
    if len(ranks) < 2:  # noqa: PLR2004 - one rank waits for nobody
        return ONE_RANK
    placed = [_placed(*one) for one in zip(ranks, roles, strict=True)]
    if measured:
        placed = [steps[steps["measured"]] for steps in placed]
    placed = [steps[steps.index.get_level_values(0) != EVAL] for steps in placed]
    computes = pd.concat([steps["end_ns"] - steps["got_ns"] for steps in placed], axis=1, join="inner")
    if len(computes) < FEWEST:
        return NO_COMMON
    computes.columns = pd.RangeIndex(len(ranks))
    ends = pd.concat([steps["clock_end_ns"] for steps in placed], axis=1, join="inner").to_numpy(dtype=float)
    apart = ends[:, 1:] - ends[:, :1]
    drift_ns = float((np.quantile(apart, 0.9, axis=0) - np.quantile(apart, 0.1, axis=0)).max())
    step_ns = float(np.median(np.diff(ends[:, 0])))
    clocks_ns = 0.0 if one_clock else CLOCKS_DRIFT * float(ends[-1, 0] - ends[0, 0])
    return computes.astype(float) if drift_ns <= MOST_DRIFT * step_ns + clocks_ns else NOT_TOGETHER


def _spread(cores: Sequence[Value]) -> Value:
    """How many times the CPU time of the least busy rank the busiest one computes."""
    known = [value for value in cores if isinstance(value, Measured) and value.value > 0]
    if len(cores) < 2:  # noqa: PLR2004 - one rank differs from nobody
        return ONE_RANK
    if len(known) < len(cores):
        return NO_RANK_CPU
    most, least = max(known, key=lambda one: one.value), min(known, key=lambda one: one.value)
    low, high = most.low / max(least.high, 1e-9), most.high / max(least.low, 1e-9)
    best = most.value / least.value
    return Measured(best, min(best, low), max(best, high), len(known), "times")
