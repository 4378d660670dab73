"""A typical stretch of a run in full detail: its steps, the batches that were made meanwhile, and their pinning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from loaderdoctor.analyse.frames import NS, table
from loaderdoctor.analyse.signals import MadeSeen, StepSeen, Stretch

if TYPE_CHECKING:
    import pandas as pd

    from loaderdoctor.analyse.ranks import Rank
    from loaderdoctor.analyse.timeline import Timeline

STEPS_SHOWN = 12  # about as many batches as one follows with the eye
SHORTEST_NS, LONGEST_NS = 100_000_000, 30_000_000_000
MOST_STARTS = 300  # places that are looked at for a typical stretch


def stretch_of(rank: Rank, ranks: int, timeline: Timeline, made: pd.DataFrame) -> Stretch | None:
    """The stretch whose share of waiting is nearest to that of all steps; None where no step ended after warm-up."""
    if len(timeline.measured) == 0:
        return None
    begin_ns, end_ns, share = _typical(timeline.measured)

    def within(rows: pd.DataFrame) -> pd.DataFrame:
        return rows[(rows["end_ns"] > begin_ns) & (rows["begin_ns"] < end_ns)]

    pins = within(table(rank.main, "pin"))
    return Stretch(
        rank=rank.number,
        ranks=ranks,
        after_s=max(0.0, (begin_ns - timeline.from_ns) / NS),
        length_ns=end_ns - begin_ns,
        wait_share=share,
        steps=_steps(within(timeline.steps), begin_ns),
        made=_made(within(made), begin_ns),
        pins=tuple(zip((pins["begin_ns"] - begin_ns).tolist(), (pins["end_ns"] - begin_ns).tolist(), strict=True)),
    )


def _typical(steps: pd.DataFrame) -> tuple[int, int, float]:
    """From when to when, and the share of waiting; of two that are as near, the one nearer to the middle."""
    begins, ends = steps["begin_ns"].to_numpy(), steps["end_ns"].to_numpy()
    waited = np.concatenate([[0], np.cumsum((steps["got_ns"] - steps["begin_ns"]).to_numpy())])
    length = int(np.clip(STEPS_SHOWN * np.median(ends - begins), SHORTEST_NS, LONGEST_NS))
    starts = np.unique(np.linspace(0, len(steps) - 1, min(len(steps), MOST_STARTS)).astype(int))
    lasts = np.clip(np.searchsorted(begins, begins[starts] + length), starts + 1, len(steps))
    shares = (waited[lasts] - waited[starts]) / np.maximum(1, ends[lasts - 1] - begins[starts])
    is_whole = begins[starts] + length <= ends[-1]
    misses = np.abs(shares - waited[-1] / max(1, ends[-1] - begins[0]))
    misses = misses + np.where(is_whole | ~is_whole.any(), 0.0, 1.0) + 1e-6 * np.abs(starts - len(steps) / 2)
    best = int(np.argmin(misses))
    begin_ns = int(begins[starts[best]])
    return begin_ns, min(begin_ns + length, int(ends[-1])), float(shares[best])


def _steps(steps: pd.DataFrame, from_ns: int) -> tuple[StepSeen, ...]:
    names = ("loop", "key", "begin_ns", "got_ns", "end_ns", "ready", "stash")
    return tuple(
        StepSeen(loop, key, begin - from_ns, got - from_ns, end - from_ns, None if ready < 0 else ready + max(0, stash))
        for loop, key, begin, got, end, ready, stash in zip(*(steps[name].tolist() for name in names), strict=True)
    )


def _made(made: pd.DataFrame, from_ns: int) -> tuple[MadeSeen, ...]:
    names = ("loop", "key", "worker", "begin_ns", "end_ns")
    return tuple(
        MadeSeen(int(loop), int(key), int(worker), int(begin) - from_ns, int(end) - from_ns)
        for loop, key, worker, begin, end in zip(*(made[name].tolist() for name in names), strict=True)
    )
