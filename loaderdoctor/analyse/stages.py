"""What a batch's time goes to: the named stages, what is left of the samples, collate, sending, receiving, pinning."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from loaderdoctor.analyse import stats
from loaderdoctor.analyse.frames import NS, table
from loaderdoctor.analyse.known_work import own_frame
from loaderdoctor.analyse.signals import HotFunction, Stage
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from loaderdoctor.analyse.ranks import Rank
    from loaderdoctor.analyse.timeline import Timeline

WORKER, MAIN, PIN_THREAD = "worker", "main", "pin-thread"
STAGES = ("read", "decode", "transform")  # what the probe names, as "stage:what"
LEAST_SECONDS = 1e-7  # a batch; what is below is the clock's own time
MOST_HOT = 12  # functions: a table that a person reads
LEAST_HOT_SHARE = 0.01
_QUEUES = "multiprocessing/queues.py"  # a worker that waits for the next batch to make, or hands one over
_OURS = "/loaderdoctor/probe/"
_TIMES_AND_PIXELS = ("self_ns", "self_cpu_ns", "pixels_in", "pixels_out")
_NO_CPU = Missing("no-stage-cpu", "Only the wall time of this stage was recorded.")


def stages_of(made: pd.DataFrame, named: pd.DataFrame, *, in_workers: bool) -> tuple[Stage, ...]:
    """The stages of one loader's batches in the order in which a batch passes them; those without a record are left out."""
    where = WORKER if in_workers else MAIN
    stages = [_named(named, name, where) for name in STAGES]
    inside = sum(_seconds(stage) for stage in stages if stage)
    stages.insert(0, _rest(made, inside, where))
    stages.append(_timed(made, "collate", "collate_ns", where))
    stages.append(_timed(made, "send", "pickle_ns", where))
    stages.append(_timed(made, "receive", "receive_ns", MAIN))
    stages.append(_timed(made, "pin", "pin_ns", PIN_THREAD if in_workers else MAIN, "pin_cpu_ns"))
    return tuple(stage for stage in stages if stage)


def _seconds(stage: Stage) -> float:
    return stage.seconds_per_batch.value if isinstance(stage.seconds_per_batch, Measured) else 0.0


def _rest(made: pd.DataFrame, inside_s: float, where: str) -> Stage | None:
    """The samples' time that no named stage has: the data set's own code, and what cannot be wrapped."""
    items_ns = made["items_ns"].dropna()
    if len(items_ns) == 0:
        return None
    whole = stats.mean(items_ns / NS, "s")
    if whole.value - inside_s < LEAST_SECONDS:
        return None
    low, high = max(0.0, whole.low - inside_s), max(0.0, whole.high - inside_s)
    return Stage("sample", Measured(whole.value - inside_s, low, high, whole.n, "s"), _NO_CPU, where)


def _timed(made: pd.DataFrame, name: str, column: str, where: str, cpu: str | None = None) -> Stage | None:
    known = made[made[column] > 0]
    if len(known) == 0:
        return None
    cpu_share: Value = stats.ratio(known[cpu], known[column], "share") if cpu else _NO_CPU
    return Stage(name, stats.mean(known[column] / NS, "s"), cpu_share, where)


def _named(named: pd.DataFrame, name: str, where: str) -> Stage | None:
    """A stage over the batches that were profiled."""
    own = named[named["stage"] == name]
    if own["self_ns"].sum() <= 0:
        return None
    # A period in which the stage did not run, such as one of the other data set, counts as well.
    periods = named.groupby(["pid", "at_ns"])["batches"].first().rename("batches").to_frame()
    periods = periods.join(own.groupby(["pid", "at_ns"])[["self_ns", "self_cpu_ns"]].sum()).fillna(0.0)
    if periods["batches"].sum() <= 0:
        return None
    per_batch = stats.ratio(periods["self_ns"] / NS, periods["batches"], "s")
    # The two clocks are read one after the other: short calls can show a little more CPU time than time.
    cpu_ns = np.minimum(periods["self_cpu_ns"], periods["self_ns"])
    return Stage(name, per_batch, stats.ratio(cpu_ns, periods["self_ns"], "share"), where)


def named_stages(rank: Rank, timeline: Timeline, made: pd.DataFrame) -> pd.DataFrame:
    """The probe's stage records: pid, loader, stage, at_ns, self_ns, self_cpu_ns, pixels, and how many batches they are of.

    They are of one profiled batch, which has a row without a stage too, with its own cpu_ns and interpreted_ns, so that what a
    batch had none of counts; records of older runs are of all the batches made since the ones before.
    """
    frames, profiled = [], set()
    for pid, loader, rows, _ in _records(rank, timeline, "profiled"):
        profiled.add(pid)
        frames.append(rows.assign(pid=pid, loader=loader, stage="", calls=0, **dict.fromkeys(_TIMES_AND_PIXELS, 0)))
    for pid, loader, rows, texts in _records(rank, timeline, "stage"):
        names = rows["name_text"].map(lambda number, texts=texts: texts.get(number, "")).str.partition(":")[0]
        batches = 1 if pid in profiled else _made_meanwhile(rows["at_ns"], made.loc[made["pid"] == pid, "begin_ns"])
        frames.append(rows.assign(pid=pid, loader=loader, stage=names, batches=batches))
    columns = ["pid", "loader", "stage", "at_ns", "calls", "batches", *_TIMES_AND_PIXELS, "cpu_ns", "interpreted_ns"]
    if not frames:
        return pd.DataFrame(columns=columns)
    return pd.concat(frames, ignore_index=True).reindex(columns=columns)


def _made_meanwhile(at_ns: pd.Series[int], begun_ns: pd.Series[int]) -> pd.Series[int]:
    """How many batches were begun since the records of the time before."""
    times = np.unique(at_ns)
    counts = np.diff(np.searchsorted(np.sort(begun_ns.to_numpy()), times), prepend=0)
    batches: pd.Series[int] = at_ns.map(dict(zip(times, counts, strict=True)))
    return batches


def stacks(rank: Rank, timeline: Timeline) -> pd.DataFrame:
    """The probe's stack records: loader, function, file, line, cpu_ns, samples, blocked_ns, stack_text (JSON); frames.

    Function, file and line are of the script's own code, or of the innermost frame where a library makes the batch by itself.
    """
    found: list[tuple[Any, ...]] = []
    for _, loaders, rows, texts in _records(rank, timeline, "stack"):
        frames = {number: _frames(text) for number, text in texts.items()}
        places = {number: _place(of_text) for number, of_text in frames.items()}
        for loader, row in zip(loaders, rows.itertuples(index=False), strict=True):
            place, number = places.get(row.stack_text), row.stack_text
            if place:
                taken = row.cpu_ns, row.samples, row.blocked_ns
                found.append((loader, *place, *taken, texts[number], frames[number]))
    columns = ["loader", "function", "file", "line", "cpu_ns", "samples", "blocked_ns", "stack_text", "frames"]
    return pd.DataFrame(found, columns=columns)


def hot_functions(found: pd.DataFrame) -> tuple[HotFunction, ...]:
    """The functions in which one loader's batches take their CPU time, the hottest first.

    What a library does counts for the function of the script that calls it.
    """
    whole_ns = float(found["cpu_ns"].sum())
    if whole_ns <= 0:
        return ()
    samples = int(found["samples"].sum())
    by_line = found.sort_values("cpu_ns", ascending=False, kind="stable")
    functions = by_line.groupby(["function", "file"], sort=False).agg(line=("line", "first"), cpu_ns=("cpu_ns", "sum"))
    hottest = functions.sort_values("cpu_ns", ascending=False, kind="stable").head(MOST_HOT)
    return tuple(
        HotFunction(function, file, int(row.line), stats.proportion(row.cpu_ns / whole_ns, samples))
        for (function, file), row in zip(hottest.index, hottest.itertuples(), strict=True)
        if row.cpu_ns >= LEAST_HOT_SHARE * whole_ns
    )


def _place(frames: list[tuple[str, str, int]]) -> tuple[str, str, int] | None:
    """(function, file, line) of the frame that ran it; None where it ran for us, or between two batches."""
    if not frames or frames[-1][1].endswith(_QUEUES) or any(_OURS in file for _, file, _ in frames):
        return None
    own = own_frame(frames)
    return own[0] if own else frames[0]


def _frames(text: str) -> list[tuple[str, str, int]]:
    """(function, file, line), innermost first; code that the compiler made has line 0."""
    frames: list[tuple[str, str, int | None]] = json.loads(text) if text.startswith("[[") else []
    return [(function, file, line or 0) for function, file, line in frames]


def _records(
    rank: Rank, timeline: Timeline, kind: str
) -> Iterable[tuple[int, pd.Series[int], pd.DataFrame, dict[int, str]]]:
    """(pid, loader of each row, rows, texts) of each process.  A worker's rows are its loader's.

    Rows of the main process are those of the loader that made a batch last when they were written, about once a second.
    """
    of_iterator = dict(zip(timeline.loops["iterator"], timeline.loops["loader"], strict=True))
    for life in rank.workers:
        if life.process is not None and kind in life.process.tables:
            rows = table(life.process, kind)
            loader = pd.Series(of_iterator.get(life.iterator, -1), index=rows.index)
            yield life.pid, loader, rows, dict(life.process.texts)
    rows = table(rank.main, kind)
    if len(rows):
        rows = rows.sort_values("at_ns", kind="stable")
        made = in_main(rank, timeline)
        place = np.searchsorted(made["begin_ns"], rows["at_ns"]) - 1
        loader = pd.Series(made["loader"].to_numpy()[place] if len(made) else -1, index=rows.index)
        yield rank.main.pid, loader, rows, dict(rank.main.texts)


def in_main(rank: Rank, timeline: Timeline) -> pd.DataFrame:
    """begin_ns and loader of the batches made in the main process."""
    fetches = table(rank.main, "fetch")[["iterator", "begin_ns"]].sort_values("begin_ns")
    of_iterator = timeline.loops.drop_duplicates("iterator").set_index("iterator")["loader"]
    return fetches.assign(loader=fetches["iterator"].map(of_iterator)).dropna().astype({"loader": np.int64})
