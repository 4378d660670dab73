"""Everything that is to be said about one loader."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from loaderdoctor.analyse import queue, reads, stages, stats
from loaderdoctor.analyse.code import code_of
from loaderdoctor.analyse.frames import NS, table
from loaderdoctor.analyse.making import making_of
from loaderdoctor.analyse.order import order_of
from loaderdoctor.analyse.parts import absent
from loaderdoctor.analyse.shares import mean_of, mean_s, median_s, share
from loaderdoctor.analyse.signals import (
    NOT_RECORDED,
    CodeSignals,
    LoaderSignals,
    MakingSignals,
    OrderSignals,
    PassSignals,
    ReadSignals,
)
from loaderdoctor.analyse.steady import steady_of
from loaderdoctor.analyse.workers import with_wall, workers_of
from loaderdoctor.analyse.workloads import workload_of
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd

    from loaderdoctor.analyse.around import WorkerSample
    from loaderdoctor.analyse.loaders import Loader
    from loaderdoctor.analyse.parts import Parts
    from loaderdoctor.analyse.ranks import Rank, WorkerLife
    from loaderdoctor.analyse.timeline import Timeline

T = TypeVar("T")

NO_WORKERS = Missing("no-workers", "The loader has no workers.")
NO_MEASURED = Missing("no-measured-steps", "None of this loader's steps ended after warm-up.")
NO_GAPS = Missing("no-epoch-starts", "No epoch of this loader began after warm-up.")
NO_TOGETHER = Missing("fetched-together", "The data set makes all samples of a batch in one call.")


@dataclass(frozen=True)
class Recorded:
    """One rank's records, joined."""

    rank: Rank
    timeline: Timeline
    steps: pd.DataFrame  # with exposure
    clock: str
    made: pd.DataFrame
    stages: pd.DataFrame
    stacks: pd.DataFrame
    roles: Mapping[int, str]
    cores: float
    worker_samples: Mapping[int, WorkerSample]  # what the parent saw of worker processes, by process id
    sources: Mapping[str, str]  # path -> text of the script's own files
    compute_cores: Value  # that the training keeps busy while it computes
    compute_queued: Value  # share of the time in which its main thread waits for a core


def loader_signals(loader: Loader, recorded: Recorded, parts: Parts) -> LoaderSignals:
    """The signals of one loader; where they fail, what it is, and how many batches it gave."""
    own = recorded.steps[recorded.steps["loader"].isin(loader.numbers)]
    its = {"id": loader.id, "role": loader.role, "site": loader.site, "settings": loader.settings, "batches": len(own)}
    none = {"epochs": int(own["loop"].nunique()), "workers": (), "stages": (), "hot_functions": (), "workload": None}
    return parts.of(
        f"The loader {loader.id}",
        lambda: _loader_signals(loader, recorded, parts),
        lambda why: absent(LoaderSignals, why, **its, **none),
    )


def _loader_signals(loader: Loader, recorded: Recorded, parts: Parts) -> LoaderSignals:
    """Everything timed is about its steps, and the batches made for them, after warm-up."""
    own = recorded.steps[recorded.steps["loader"].isin(loader.numbers)]
    measured = own[own["measured"]]
    made = recorded.made[recorded.made["loader"].isin(loader.numbers)]
    # A batch belongs to the time after warm-up where it was being made then, used or not.
    late = made[made["end_ns"] >= recorded.timeline.from_ns]
    lives = _lives(loader, recorded)
    steady, _ = steady_of(recorded.steps, loader, recorded.roles)
    with_workers = loader.settings.num_workers > 0
    firsts = measured[measured["is_first"]]
    time_ns = recorded.steps.loc[recorded.steps["measured"], "chunk_ns"]
    ready_median, ready_empty = queue.ready(measured) if with_workers else (NO_WORKERS, NO_WORKERS)
    wall = with_wall(late)
    stacks = recorded.stacks[recorded.stacks["loader"].isin(loader.numbers)]
    its = loader, own.assign(span_ns=own["end_ns"] - own["begin_ns"]), made, lives

    def part(what: str, make: Callable[[], T], without: Callable[[Missing], T]) -> T:
        return parts.of(f"The loader {loader.id}: {what}", make, without)

    order = part(
        "order",
        lambda: order_of(loader, measured, made, stacks, timeline=recorded.timeline, main=recorded.rank.main),
        lambda why: absent(OrderSignals, why),
    )
    named = recorded.stages[recorded.stages["loader"].isin(loader.numbers)]
    passed = table(recorded.rank.main, "passed")
    passed = passed[passed["loader"].isin(loader.numbers)]
    return LoaderSignals(
        id=loader.id,
        role=loader.role,
        site=loader.site,
        settings=loader.settings,
        batches=len(own) + int(passed["batches"].sum()),
        epochs=int(own["loop"].nunique() + passed["epochs"].sum()),
        wait_s=_sum_s(measured["wait_ns"]),
        exposed_wait_s=_sum_s(measured["exposed_ns"]),
        exposed_wait_share=_of_time(measured["exposed_ns"], time_ns),
        first_batch_gap_s=mean_s(firsts["wait_ns"], NO_GAPS),
        epoch_gap_share=_of_time(firsts["wait_ns"], time_ns),
        ready_median=ready_median,
        ready_empty_share=ready_empty,
        step_s=median_s(steady["span_ns"], NO_MEASURED),
        compute_s=median_s(steady["end_ns"] - steady["got_ns"] - steady["held_ns"], NO_MEASURED),
        fetch_s=mean_s(late["wall_ns"], NOT_RECORDED),
        fetch_cpu_share=share(late["cpu_ns"], late["wall_ns"], NOT_RECORDED),
        fetch_disk_share=share(late["disk_ns"], late["wall_ns"], NOT_RECORDED),
        fetch_blocked_share=share(late["blocked_ns"], late["wall_ns"], NOT_RECORDED),
        fetch_run_queue_share=share(late["run_queue_ns"], late["wall_ns"], NOT_RECORDED),
        collate_s=mean_s(late["collate_ns"], NOT_RECORDED),
        slowest_sample_s=mean_s(late["slowest_ns"], NO_TOGETHER if loader.settings.batched_fetch else NOT_RECORDED),
        sample_s=_sample_s(late),
        send_s=mean_s(late["pickle_ns"], NOT_RECORDED) if with_workers else NO_WORKERS,
        receive_s=mean_s(late["receive_ns"], NOT_RECORDED) if with_workers else NO_WORKERS,
        sampler_s=mean_s(measured["sampler_ns"].where(measured["sampler_ns"] >= 0).astype(float), NOT_RECORDED),
        batch_bytes=_first_known(late, ("payload_bytes", "pin_bytes"), "bytes"),
        tensors_per_batch=_first_known(late, ("tensors", "pin_tensors"), "tensors"),
        head_of_line_share=queue.head_of_line(measured, recorded.timeline, recorded.rank.main)
        if with_workers
        else NO_WORKERS,
        worker_busy_share=share(wall["busy_ns"], wall["worker_wall_ns"], NOT_RECORDED) if with_workers else NO_WORKERS,
        workers=part("workers", lambda: workers_of(late, lives, recorded.worker_samples), lambda _: ()),
        stages=part("stages", lambda: stages.stages_of(late, named, in_workers=with_workers), lambda _: ()),
        hot_functions=part("hot functions", lambda: stages.hot_functions(stacks), lambda _: ()),
        workload=part(
            "replay",
            lambda: workload_of(
                *its,
                cores=recorded.cores,
                clock=recorded.clock,
                order=order,
                compute_cores=recorded.compute_cores,
                compute_queued=recorded.compute_queued,
            ),
            lambda _: None,
        ),
        making=part(
            "making", partial(making_of, loader, made, late, lives, recorded.worker_samples, named=named), _no_making
        ),
        reads=part("reads", lambda: _reads(stacks, recorded.sources, late), lambda why: absent(ReadSignals, why)),
        passes=part("passes", lambda: reads.passes_of(made, own), lambda why: absent(PassSignals, why)),
        code=part(
            "code", lambda: code_of(stacks, named, loader.settings.collate), lambda why: absent(CodeSignals, why)
        ),
        order=order,
    )


def _reads(stacks: pd.DataFrame, sources: Mapping[str, str], late: pd.DataFrame) -> ReadSignals:
    found = reads.reads_of(reads.sampled(stacks), sources, _shares_of_making(late))
    return replace(found, asked_bytes=mean_of(late["read_chars"], "bytes", NOT_RECORDED))


def _shares_of_making(late: pd.DataFrame) -> tuple[Value, Value]:
    """What computing, waits for a core among it, and waiting for anything else are of the time to make a batch."""
    computing = late["cpu_ns"] + late["run_queue_ns"].fillna(0.0)
    return (
        share(computing, late["wall_ns"], NOT_RECORDED),
        share(late["wall_ns"] - computing, late["wall_ns"], NOT_RECORDED),
    )


def _no_making(reason: Missing) -> MakingSignals:
    return absent(MakingSignals, reason)


def _lives(loader: Loader, recorded: Recorded) -> Sequence[WorkerLife]:
    loops = recorded.timeline.loops
    iterators = set(loops.loc[loops["loader"].isin(loader.numbers), "iterator"])
    return [life for life in recorded.rank.workers if life.iterator in iterators]


def _sum_s(times_ns: pd.Series[float]) -> Value:
    """A sum, with the interval that its mean has."""
    if len(times_ns) == 0:
        return NO_MEASURED
    mean = stats.mean(times_ns / NS, "s")
    n = len(times_ns)
    return Measured(mean.value * n, mean.low * n, mean.high * n, n, "s")


def _of_time(times_ns: pd.Series[float], time_ns: pd.Series[float]) -> Value:
    """Share of the time after warm-up; steps of other loaders have nothing of it."""
    if float(time_ns.sum()) <= 0:
        return NO_MEASURED
    return stats.ratio(times_ns.reindex(time_ns.index, fill_value=0.0), time_ns, "share")


def _sample_s(made: pd.DataFrame) -> Value:
    known = made[(made["samples"] > 0) & made["items_ns"].notna()]
    return stats.ratio(known["items_ns"] / NS, known["samples"], "s") if len(known) else NOT_RECORDED


def _first_known(made: pd.DataFrame, columns: Sequence[str], unit: str) -> Value:
    for column in columns:
        value = mean_of(made[column], unit, NOT_RECORDED)
        if isinstance(value, Measured):
            return value
    return NOT_RECORDED
