"""What the order of batches and the beginnings of epochs cost: gaps and what fills them, waits behind one slow batch, streams that end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from loaderdoctor.analyse import listing, queue, stats
from loaderdoctor.analyse.frames import NS
from loaderdoctor.analyse.signals import OrderSignals
from loaderdoctor.probe.layout import BUILT, NEXT_END
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from loaderdoctor.analyse.loaders import Loader
    from loaderdoctor.analyse.timeline import Timeline
    from loaderdoctor.record.run import ProcessRecords

NO_GAPS = Missing("no-epoch-starts", "No epoch of this loader began after warm-up.")
NO_WORKERS = Missing("no-workers", "The loader has no workers.")
NO_FIRST = Missing("no-first-batch", "No first batch of an epoch has a record of how it was made.")
NO_PASS = Missing("no-whole-pass", "No pass over the stream ended by itself after warm-up.")
NO_EXTRA = Missing("no-extra", "First batches take no longer than others.")
NO_WAITS = Missing("no-waits", "The loader was not waited for within epochs.")
NO_TIMES = Missing("no-batch-times", "Too few batches have a record of how they were made.")
NOT_A_STREAM = Missing("no-stream", "The data set is not a stream: the sampler deals the samples out.")
NO_CONTENT = Missing("no-batch-contents", "The contents of too few batches were compared.")
ALIKE = Missing("batches-alike", "A worker's own batches are alike, so that equal ones of two workers say nothing.")
REBUILT = 0.5  # of the epochs with a loader object of their own: once is a second loader, mostly is a habit
_TURNS = 2  # batches of each worker that are compared: one may be equal by chance, such as padding
_WORTH_PAYING = 2.0  # times a usual batch: a first one that takes less extra is no more than a cold start


def order_of(
    loader: Loader,
    measured: pd.DataFrame,
    made: pd.DataFrame,
    stacks: pd.DataFrame,
    *,
    timeline: Timeline,
    main: ProcessRecords,
) -> OrderSignals:
    """Of one loader; `measured` are its steps after warm-up, `made` all of its batches, `stacks` where they were made."""
    epochs = int(timeline.steps.loc[timeline.steps["loader"].isin(loader.numbers), "loop"].nunique())
    late = made[made["end_ns"] >= timeline.from_ns]
    gaps = _gaps(measured, late, timeline)
    inside = measured[~measured["is_first"]]
    time_ns = timeline.measured["chunk_ns"]
    held_ns = queue.held_up_ns(inside, timeline, main).reindex(inside.index, fill_value=0.0)
    chosen_ns = measured["sampler_ns"].clip(lower=0) + _chosen_before(measured, timeline)
    parts: dict[str, Any] = {name: _of_gaps(gaps, column) for name, column in _PARTS.items()}
    listed, site = listing.listing_of(stacks)
    return OrderSignals(
        rebuilt=len(loader.numbers) > max(1.0, REBUILT * epochs),
        restart_s=float(gaps["start_ns"].mean() / NS) if gaps["start_ns"].notna().any() else 0.0,
        **parts,
        before_first_share=_before_first(gaps),
        paid_back_share=_paid_back(late, timeline) if loader.settings.dataset_kind == "iterable" else NOT_A_STREAM,
        listing_share=listed,
        listing_site=site,
        held_share=_of(held_ns.reindex(time_ns.index, fill_value=0.0), time_ns, NO_WAITS),
        held_of_waits=_of(held_ns, inside["wait_ns"], NO_WAITS),
        supply=_supply(inside, late),
        **_ends(loader, inside, made, timeline),
        sampler_share=_of(chosen_ns.reindex(time_ns.index, fill_value=0.0), time_ns, NO_TIMES),
        repeated_share=_repeated(loader, made),
        sampler_of_wait=_of(np.minimum(chosen_ns, measured["wait_ns"]), measured["wait_ns"], NO_WAITS),
    )


_PARTS = {
    "gap_start_share": "start_ns",
    "gap_choose_share": "choose_ns",
    "gap_usual_share": "usual_ns",
    "gap_extra_share": "extra_ns",
}


def _of(part: pd.Series[float], whole: pd.Series[float], missing: Missing) -> Value:
    if len(whole) == 0 or float(whole.sum()) <= 0:
        return missing
    return stats.ratio(part, whole, "share")


def _chosen_before(measured: pd.DataFrame, timeline: Timeline) -> pd.Series[float]:
    """Choosing the first indices while an iterator is built, by the first step of its loop."""
    before = timeline.loops["sampler_ns"].clip(lower=0).reindex(measured["loop"]).fillna(0).to_numpy()
    return pd.Series(np.where(measured["is_first"], before, 0), index=measured.index, dtype=float)


def _gaps(measured: pd.DataFrame, late: pd.DataFrame, timeline: Timeline) -> pd.DataFrame:
    """A row an epoch that began after warm-up: its gap, and what of it is known to be what; ns."""
    firsts = measured[measured["is_first"]]
    chosen_ns = _chosen_before(firsts, timeline) + firsts["sampler_ns"].clip(lower=0)
    loops = timeline.loops[["begin_ns", "end_ns", "how"]].rename(columns=lambda name: f"loop_{name}")
    gaps = firsts[["loop", "key", "wait_ns", "build_ns", "begin_ns"]].assign(choose_ns=chosen_ns)
    gaps = gaps.merge(loops, left_on="loop", right_index=True, how="left")
    own = late[["loop", "key", "begin_ns", "wall_ns", "worker", "items_ns", "slowest_ns", "slowest_position"]]
    gaps = gaps.merge(own.rename(columns={"begin_ns": "made_ns"}), on=["loop", "key"], how="inner")
    others = late.loc[(late["samples"] != 0) & (late["key"] >= _heads(late)), "wall_ns"]
    usual_ns = float(others.median()) if len(others) else np.nan
    building_ns = gaps["loop_end_ns"] - gaps["loop_begin_ns"]
    ending_ns = (gaps["build_ns"] - building_ns).clip(lower=0)
    before_ns = (gaps["made_ns"] - gaps["loop_begin_ns"]).clip(lower=0)
    is_new = (gaps["loop_how"] == BUILT) & (gaps["worker"] >= 0)
    start_ns = (ending_ns + before_ns - gaps["choose_ns"]).clip(lower=0).where(is_new, 0)
    making_ns = np.minimum(gaps["wall_ns"], gaps["wait_ns"])
    usual_ns = np.minimum(making_ns, usual_ns)
    return gaps.assign(start_ns=np.minimum(start_ns, gaps["wait_ns"]), usual_ns=usual_ns, extra_ns=making_ns - usual_ns)


def _heads(made: pd.DataFrame) -> int:
    """How many batches of a pass are the first ones of a worker."""
    return int(made["worker"].max()) + 1 if len(made) and made["worker"].max() >= 0 else 1


def _of_gaps(gaps: pd.DataFrame, column: str) -> Value:
    if len(gaps) == 0:
        return NO_GAPS
    known = gaps[gaps[column].notna()]
    return _of(known[column].astype(float), known["wait_ns"].astype(float), NO_FIRST)


def _before_first(gaps: pd.DataFrame) -> Value:
    """The first sample's part of what making first batches takes: what comes before it happens within it."""
    known = gaps[(gaps["items_ns"] > 0) & (gaps["slowest_ns"] >= 0)] if len(gaps) else gaps
    if len(known) == 0:
        return NO_FIRST
    first_ns = known["slowest_ns"].where(known["slowest_position"] == 0, 0.0)
    return stats.ratio(first_ns, known["items_ns"], "share")


def _paid_back(late: pd.DataFrame, timeline: Timeline) -> Value:
    """Of what a worker's first batch of a pass takes longer than its next one, what its last ones take less than that.

    A buffer that is filled first has been read when the stream ends: the last samples come from it for nothing.  Files that
    are listed first are still to be read.
    """
    ended = set(timeline.calls.loc[timeline.calls["status"] == NEXT_END, "loop"])
    extra_ns, back_ns, parts = [], [], []
    for (loop, _), own in late[late["samples"] > 0].groupby(["loop", "worker"]):
        if loop not in ended or len(own) < 3:  # noqa: PLR2004 - a first one, a usual one, and a last one
            continue
        wall_ns = own.sort_values("begin_ns")["wall_ns"].to_numpy(dtype=float)
        parts.append(wall_ns)
    if not parts:
        return NO_PASS
    usual_ns = float(np.median([wall_ns[1] for wall_ns in parts]))
    for wall_ns in parts:
        extra_ns.append(max(0.0, wall_ns[0] - usual_ns))
        back_ns.append(float(np.clip(usual_ns - wall_ns[2:], 0, None).sum()))
    if sum(extra_ns) < _WORTH_PAYING * usual_ns * len(parts):
        return NO_EXTRA
    return stats.ratio(back_ns, extra_ns, "share")


def _supply(inside: pd.DataFrame, late: pd.DataFrame) -> Value:
    """How many batches the workers that make any could make while one is used."""
    known = late[(late["worker"] >= 0) & (late["samples"] != 0) & late["wall_ns"].notna()]
    used_ns = (inside["end_ns"] - inside["got_ns"]).astype(float)
    if len(known) == 0 or len(used_ns) == 0:
        return NO_TIMES
    making = stats.mean(known["wall_ns"] + known["pickle_ns"].fillna(0), "ns")
    rate = known["worker"].nunique() * float(used_ns.mean())
    return Measured(rate / making.value, rate / making.high, rate / max(making.low, 1.0), len(known), "times")


def _repeated(loader: Loader, made: pd.DataFrame) -> Value:
    """How many of the batches with which workers begin a pass another worker made as well, by their contents.

    The n-th batch of one worker is held against the n-th of each other one.  Where a worker's own batches are alike, equal
    ones say nothing.
    """
    if loader.settings.dataset_kind != "iterable" or made["worker"].nunique() < 2:  # noqa: PLR2004 - a repetition takes two
        return NOT_A_STREAM if loader.settings.dataset_kind != "iterable" else NO_WORKERS
    known = made[(made["content"] > 0) & (made["samples"] != 0)].sort_values("key")
    if len(known) == 0:
        return NO_CONTENT
    known = known.assign(turn=known.groupby(["loop", "worker"]).cumcount())
    in_turn = known.pivot_table(index=["loop", "turn"], columns="worker", values="content", aggfunc="first").dropna()
    is_alike = known.groupby(["loop", "worker"])["content"].agg(lambda prints: prints.duplicated().any())
    if len(in_turn) < _TURNS:
        return NO_CONTENT
    if is_alike.any():
        return ALIKE
    first = in_turn.iloc[:, 0]
    again = in_turn.iloc[:, 1:].eq(first, axis=0).any(axis=1)
    return stats.proportion(float(again.mean()), len(in_turn))


def _ends(loader: Loader, inside: pd.DataFrame, made: pd.DataFrame, timeline: Timeline) -> dict[str, Any]:
    """How a stream's workers come to their ends: how long they idle then, and whether that is when the training waits."""
    workers = loader.settings.num_workers
    if loader.settings.dataset_kind != "iterable":
        return {"idle_at_end_share": NOT_A_STREAM, "waits_at_end_share": NOT_A_STREAM}
    if workers == 0:
        return {"idle_at_end_share": NO_WORKERS, "waits_at_end_share": NO_WORKERS}
    steps = timeline.steps[timeline.steps["loader"].isin(loader.numbers)]
    spans = steps.groupby("loop").agg(first_ns=("got_ns", "min"), last_ns=("got_ns", "max"))
    fetches = made[made["worker"] >= 0]
    empty = fetches[fetches["samples"] <= 0]
    ends_ns = empty.groupby(["loop", "worker"])["end_ns"].max()
    if len(ends_ns) == 0:
        return {"idle_at_end_share": NO_PASS, "waits_at_end_share": NO_PASS}
    idle_ns, whole_ns, first_end = [], [], {}
    for loop, span in spans.iterrows():
        ended = [float(ends_ns.get((loop, worker), np.inf)) for worker in range(workers)]
        length_ns = float(span["last_ns"] - span["first_ns"])
        if length_ns <= 0:
            continue
        first_end[loop] = min(ended)
        idle_ns.append(sum(max(0.0, span["last_ns"] - max(end, span["first_ns"])) for end in ended))
        whole_ns.append(workers * length_ns)
    if not whole_ns:
        return {"idle_at_end_share": NO_PASS, "waits_at_end_share": NO_PASS}
    after = inside["got_ns"] > inside["loop"].map(first_end).fillna(np.inf)
    busy = fetches.loc[fetches["samples"] > 0, "worker"].nunique()
    return {
        "idle_at_end_share": stats.ratio(idle_ns, whole_ns, "share"),
        "waits_at_end_share": _of(inside["wait_ns"].where(after, 0.0), inside["wait_ns"], NO_WAITS),
        "streams": busy if 0 < busy < workers else None,
    }
