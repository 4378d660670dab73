"""How a loader's batches are made, beyond what one takes on the mean: reads, spread, first ones, and the workers' own state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from loaderdoctor.analyse import stats
from loaderdoctor.analyse.frames import table
from loaderdoctor.analyse.garbage import share_of_collections
from loaderdoctor.analyse.shares import mean_of, mean_s
from loaderdoctor.analyse.signals import NOT_RECORDED, MakingSignals
from loaderdoctor.analyse.workers import boot_s
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from loaderdoctor.analyse.around import WorkerSample
    from loaderdoctor.analyse.loaders import Loader
    from loaderdoctor.analyse.ranks import WorkerLife

NO_FIRST = Missing("no-epoch-starts", "No first batch of an epoch was recorded as it was made, after warm-up.")
NO_STARTS = Missing("no-worker-start", "No start of a worker was recorded.")
NO_LATER = Missing("one-epoch", "There are not enough batches of a first and of a later epoch to compare.")
FEWEST = 8  # batches; the spread of fewer says nothing
CALLED = "called"  # the stage records that count calls
_BLOCK_BYTES = 512  # unit of ru_inblock


def making_of(
    loader: Loader,
    made: pd.DataFrame,
    late: pd.DataFrame,
    lives: Sequence[WorkerLife],
    samples: Mapping[int, WorkerSample],
    *,
    named: pd.DataFrame,
) -> MakingSignals:
    """Of one loader; `made` are all of its batches, `late` those after warm-up, `named` its stage records."""
    first = late[late["key"] == 0]
    sampled = [samples[life.pid] for life in lives if life.pid in samples]
    return MakingSignals(
        loaders_built=len(loader.numbers),
        first_made_s=mean_s(first["wall_ns"], NO_FIRST),
        spread=_spread(late["wall_ns"]),
        read_bytes=mean_of(np.fmax(late["read_chars"], late["read_bytes"]), "bytes", NOT_RECORDED),
        disk_bytes=mean_of(np.fmax(late["read_bytes"], late["blocks_in"] * _BLOCK_BYTES), "bytes", NOT_RECORDED),
        worker_cpus=_ready(lives, "affinity", "cpus"),
        worker_torch_threads=_ready(lives, "torch_threads", "threads"),
        worker_threads=_mean([one.threads for one in sampled], "threads"),
        worker_cores=_mean([one.cpu_share for one in sampled], "cores"),
        worker_start_s=_starts(lives),
        samples_per_epoch=_samples_per_epoch(made),
        worker_other_threads_share=_mean([one.other_threads_share for one in sampled], "share"),
        collected_share=_collected(late),
        later_epochs=_later_epochs(made),
        samples=_samples(late),
        message_bytes=mean_of(late["message_bytes"], "bytes", NOT_RECORDED),
        calls_per_sample=_calls_per_sample(named, late),
    )


def _spread(wall_ns: pd.Series[float]) -> Value:
    """Standard deviation over mean of the time that a batch takes to make."""
    known = wall_ns.dropna().to_numpy(dtype=float)
    if len(known) < FEWEST or known.mean() <= 0:
        return NOT_RECORDED
    return stats.ratio(np.abs(known - known.mean()), np.full(len(known), known.mean()), "times the mean")


def _ready(lives: Sequence[WorkerLife], field: str, unit: str) -> Value:
    """What workers said of themselves when they were ready: the median of them, and their range."""
    said = [
        int(value)
        for life in lives
        if life.process is not None
        for value in table(life.process, "worker_ready")[field]
        if value > 0
    ]
    if not said:
        return NOT_RECORDED
    return Measured(float(np.median(said)), float(min(said)), float(max(said)), len(said), unit)


def _mean(values: Sequence[Value], unit: str) -> Value:
    known = [value for value in values if isinstance(value, Measured)]
    if not known:
        return NOT_RECORDED
    mean, low, high = (float(np.mean([getattr(one, end) for one in known])) for end in ("value", "low", "high"))
    return Measured(mean, low, high, len(known), unit)


def _starts(lives: Sequence[WorkerLife]) -> Value:
    boots = [boot for life in lives if (boot := boot_s(life, life.start_ns)) is not None]
    return stats.mean(boots, "s") if boots else NO_STARTS


def _samples(made: pd.DataFrame) -> Value:
    return mean_of(made.loc[made["samples"] > 0, "samples"], "samples", NOT_RECORDED)


def _calls_per_sample(named: pd.DataFrame, made: pd.DataFrame) -> Value:
    """A stream that yields one of so many items that it goes through calls what it goes through them with as often."""
    samples = _samples(made)
    calls = named.loc[named["stage"] == CALLED, "calls"]
    if len(calls) == 0 or not isinstance(samples, Measured):
        return NOT_RECORDED
    return stats.mean(calls / samples.value, "calls")


def _samples_per_epoch(made: pd.DataFrame) -> Value:
    """Samples that were made in an epoch; the median, since the last one may be cut short."""
    known = made[made["samples"] > 0]
    if len(known) == 0:
        return NOT_RECORDED
    return stats.median(known.groupby("loop")["samples"].sum(), "samples")


def _later_epochs(made: pd.DataFrame) -> Value:
    """First batches aside: they open files and import."""
    known = made[(made["key"] > 0) & made["cpu_ns"].notna()]
    is_first = known["loop"] == known["loop"].min()
    first, later = known.loc[is_first, "cpu_ns"], known.loc[~is_first, "cpu_ns"]
    if len(first) < FEWEST or len(later) < FEWEST or float(first.mean()) <= 0:
        return NO_LATER
    return stats.mean(later / float(first.mean()), "times")


def _collected(made: pd.DataFrame) -> Value:
    known = made[(made["collected"] > 0) & made["cpu_ns"].notna()]
    return share_of_collections(known["collected"] - 1, known["cpu_ns"], float(known["cpu_ns"].sum()))
