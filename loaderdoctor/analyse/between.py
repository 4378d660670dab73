"""What the training's loop does besides training: after the optimizer's step, and in the rare steps that write much."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from loaderdoctor.analyse import stats
from loaderdoctor.analyse.frames import NS, table
from loaderdoctor.analyse.garbage import NOT_COUNTED, share_of_collections
from loaderdoctor.analyse.loaders import TRAIN
from loaderdoctor.analyse.signals import LoopSignals
from loaderdoctor.values import Measured, Missing

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from loaderdoctor.analyse.timeline import Timeline
    from loaderdoctor.record.run import ProcessRecords

_BLOCK_BYTES = 512  # unit of ru_oublock
LEAST_WRITTEN_BYTES = 1 << 20  # in a step: less than any model's checkpoint, more than a line of a log
LONG = 2.0  # times the median: a step beyond it holds something that the others do not
MOST_PAUSES = 0.5  # of the steps; what happens in most of them is no pause
FEWEST = 8  # steps
NO_STEPS = Missing("no-steps", "Too few steps with an optimizer's step in them were recorded.")
NO_CPU = Missing(
    "not-recorded",
    "The CPU time of the training thread was not recorded then, or too few of its optimizer's steps were.",
)
NO_WRITES = Missing(
    "not-recorded", "What the training process writes was not recorded then, or is not told by this system."
)


def loop_signals(main: ProcessRecords, timeline: Timeline, roles: Mapping[int, str], made: pd.DataFrame) -> LoopSignals:
    """Of the training's own steps after warm-up, without those in which another loader is asked."""
    whole_ns = float(timeline.measured["chunk_ns"].sum())
    steps = _with_loop(_own_steps(timeline, roles), main, timeline, made)
    if len(steps) < FEWEST or whole_ns <= 0 or timeline.trains_elsewhere:
        return LoopSignals(after_step_share=NO_STEPS, save_share=NO_STEPS, collected_share=NOT_COUNTED)
    taken_ns = steps["end_ns"] - steps["got_ns"]
    usual_ns = float(taken_ns.median())
    is_save = (steps["written_bytes"] >= LEAST_WRITTEN_BYTES) & (taken_ns > LONG * usual_ns)
    if is_save.mean() > MOST_PAUSES:
        is_save[:] = False
    saves_ns = (taken_ns - usual_ns).where(is_save, 0.0)
    after_ns = steps["after_ns"].fillna(0.0).where(~is_save, 0.0)
    others_ns = pd.Series(0.0, index=range(1))  # the rest of the time has neither

    def of_time(parts_ns: pd.Series[float]) -> Measured:
        rest_ns = max(0.0, whole_ns - float(taken_ns.sum()))
        return stats.ratio(np.append(parts_ns.to_numpy(), others_ns), np.append(taken_ns.to_numpy(), rest_ns), "share")

    known = steps["written_bytes"].notna().any()
    saves = int(is_save.sum())
    return LoopSignals(
        after_step_share=of_time(after_ns) if steps["after_ns"].notna().any() else NO_CPU,
        save_share=of_time(saves_ns) if known else NO_WRITES,
        save_s=stats.mean(saves_ns[is_save] / NS, "s") if saves else NO_WRITES,
        save_bytes=stats.mean(steps.loc[is_save, "written_bytes"], "bytes") if saves else NO_WRITES,
        steps_per_save=Measured.exact(len(steps) / saves, "steps", saves) if saves else NO_WRITES,
        collected_share=share_of_collections(steps["collected"], taken_ns.astype(float), whole_ns),
    )


def _own_steps(timeline: Timeline, roles: Mapping[int, str]) -> pd.DataFrame:
    steps = timeline.measured
    is_training = steps["loader"].map(roles) == TRAIN
    alone = steps["own_ns"] >= (steps["end_ns"] - steps["begin_ns"]) * 0.999
    return steps[is_training & alone]


def _with_loop(steps: pd.DataFrame, main: ProcessRecords, timeline: Timeline, made: pd.DataFrame) -> pd.DataFrame:
    """after_ns: as `_after_the_optimizer`; written_bytes and collected: from a step's request to the next one."""
    steps = steps.assign(after_ns=_after_the_optimizer(steps, main, timeline))
    grown = _between_requests(steps, main, timeline)
    inside = made.loc[made["worker"] < 0, ["loop", "key", "collected"]]
    own = steps[["loop", "key"]].merge(inside, on=["loop", "key"], how="left")["collected"]
    making = (own - 1).clip(lower=0).fillna(0.0).to_numpy()
    return steps.assign(
        written_bytes=grown["blocks_out"].to_numpy() * _BLOCK_BYTES,
        collected=np.maximum(0.0, grown["full_collections"].to_numpy() - making),
    )


def _after_the_optimizer(steps: pd.DataFrame, main: ProcessRecords, timeline: Timeline) -> pd.Series[float]:
    """CPU time alone: a loop that waits there waits for a device, or for what it is told to wait for.

    What the thread had used at the request is said by the next optimizer step, which must be one of the next batch: where
    an optimizer steps once for several batches, nothing is known.
    """
    made = table(main, "optimizer_step")
    made = made[(made["thread"] == timeline.thread) & (made["asked_cpu_ns"] > 0)].sort_values("end_ns")
    ends_ns, cpu_ns, asked_ns = (made[name].to_numpy() for name in ("end_ns", "cpu_ns", "asked_cpu_ns"))
    last = np.searchsorted(ends_ns, steps["end_ns"].to_numpy(), side="right") - 1
    is_known = (last >= 0) & (last + 1 < len(made))
    place = last.clip(min=0, max=max(0, len(made) - 2))
    if len(made) < FEWEST:
        return pd.Series(np.nan, index=steps.index)
    after_ns = asked_ns[place + 1] - cpu_ns[place]
    is_known &= (ends_ns[place] >= steps["got_ns"].to_numpy()) & (after_ns >= 0)
    requests_ns = np.sort(timeline.calls.loc[timeline.calls["thread"] == timeline.thread, "begin_ns"].to_numpy())
    requests = np.searchsorted(requests_ns, ends_ns)
    is_known &= (requests[place + 1] - requests[place] == 1) & ~_before_a_gap(steps, main)
    return pd.Series(
        np.where(is_known, np.minimum(after_ns, steps["end_ns"] - ends_ns[place]), np.nan), index=steps.index
    )


def _between_requests(steps: pd.DataFrame, main: ProcessRecords, timeline: Timeline) -> pd.DataFrame:
    """How much the counts of the process have grown from a step's request to the next one; NaN where they were not recorded.

    The last step before a gap of a long run has no next request here: 0.
    """
    names = ["blocks_out", "full_collections"]
    said = table(main, "since_start")
    if len(said) == 0:
        return pd.DataFrame(np.nan, index=range(len(steps)), columns=names)
    calls = timeline.calls[timeline.calls["thread"] == timeline.thread].sort_values("begin_ns", kind="stable")
    said = said.sort_values("at_ns", kind="stable")[["at_ns", *names]]
    counts = pd.merge_asof(calls[["begin_ns", "end_ns"]], said, left_on="end_ns", right_on="at_ns")
    counts[names] = counts[names].where(counts[names] >= 0).ffill()
    begun_ns = counts["begin_ns"].to_numpy()
    first = np.searchsorted(begun_ns, steps["begin_ns"].to_numpy()).clip(max=len(counts) - 1)
    after = np.searchsorted(begun_ns, steps["end_ns"].to_numpy())
    after = np.maximum(after, first + 1).clip(max=len(counts) - 1)
    values = counts[names].to_numpy(dtype=float)
    grown = np.where(_before_a_gap(steps, main)[:, None], 0.0, values[after] - values[first])
    return pd.DataFrame(grown, columns=names)


def _before_a_gap(steps: pd.DataFrame, main: ProcessRecords) -> npt.NDArray[np.bool_]:
    """The steps at whose end a stretch of a long run ends."""
    begin_ns, end_ns = steps["begin_ns"].to_numpy(), steps["end_ns"].to_numpy()
    if main.seen is None:
        return np.zeros(len(steps), dtype=bool)
    is_last: npt.NDArray[np.bool_] = main.seen.apart_all(end_ns) - main.seen.apart_all(begin_ns) > end_ns - begin_ns
    return is_last
