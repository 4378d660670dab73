"""Each training process of a run by itself, and each machine of a job that was recorded in parts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from loaderdoctor.analyse.around import machine_signals
from loaderdoctor.analyse.frames import NS
from loaderdoctor.analyse.ranks import rank_of
from loaderdoctor.analyse.shares import median_s
from loaderdoctor.analyse.signals import HostSignals, JobSignals, ProcessSignals, RankSignals
from loaderdoctor.analyse.starved import NO_STEPS
from loaderdoctor.probe.layout import ROLE_MAIN
from loaderdoctor.record import RECORDED_AS_A_PART
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from loaderdoctor.analyse.ranks import Rank
    from loaderdoctor.analyse.timeline import Timeline
    from loaderdoctor.record.run import Run

    Note = tuple[str, str]

# Of a step: equal ranks are never done at the same nanosecond, and who is last by less has made nobody wait.
LEAST_HELD = 0.05
NO_RANKS = Missing("no-ranks", "The processes are no ranks of one job: none of them waits for another.")


class Analysed(Protocol):
    """What is known of one training process by now."""

    @property
    def rank(self) -> Rank:
        """Its number and its records."""

    @property
    def timeline(self) -> Timeline:
        """When its time after warm-up was, on the clock of its host."""

    @property
    def steps(self) -> pd.DataFrame:
        """Its steps with their exposure."""

    @property
    def roles(self) -> dict[int, str]:
        """What its loaders are for."""


def share_a_clock(analysed: Sequence[Analysed]) -> bool:
    """Whether they were recorded in one part: hosts share none, and two clocks of one host need not begin together."""
    return len({one.rank.main.part for one in analysed}) <= 1


def named(job: JobSignals, run: Run, ranks: Sequence[Analysed]) -> JobSignals:
    """The job with its last rank as the launcher numbers it, and with its host where there are several."""
    if job.last_rank is None:
        return job
    last = ranks[job.last_rank].rank
    host = host_names(run, [one.rank for one in ranks])[last.main.part] if run.parts else None
    return replace(job, last_rank=last.number, last_host=host)


def process_signals(
    run: Run,
    first: Analysed,
    ranks: Sequence[Analysed],
    others: Sequence[Analysed],
    *,
    computes: pd.DataFrame | Missing,
    shares: Sequence[Value],
) -> ProcessSignals:
    """Of the ranks of the job, or of one training and others beside it; `first` is the one that is explained.

    `computes` is what `job.computes_of` makes of the ranks; `shares` are the waiting of each, the others' after the ranks'.
    """
    every = [*ranks, *others]
    lasts = (NO_RANKS,) * len(every) if others else _last_shares(ranks, computes)
    return ProcessSignals(
        each=_each(run, every, shares, lasts) if len(every) > 1 else (),
        are_ranks=not others,
        by_host=_by_host(run, every),
        on_host=sum(one.rank.main.part == first.rank.main.part for one in every),
    )


def _each(
    run: Run, every: Sequence[Analysed], shares: Sequence[Value], lasts: Sequence[Value]
) -> tuple[RankSignals, ...]:
    hosts = host_names(run, [one.rank for one in every])
    return tuple(
        RankSignals(
            rank=one.rank.number,
            host=hosts[one.rank.main.part],
            batches=len(one.steps),
            step_s=median_s((steps["end_ns"] - steps["begin_ns"]).astype(float), NO_STEPS),
            wait_s=_waited(steps),
            starved_share=share,
            last_share=last,
        )
        for one, steps, share, last in zip(every, [_measured(one.steps) for one in every], shares, lasts, strict=True)
    )


def _measured(steps: pd.DataFrame) -> pd.DataFrame:
    return steps[steps["measured"]]


def _waited(steps: pd.DataFrame) -> Value:
    if len(steps) == 0:
        return NO_STEPS
    waits_ns = steps["exposed_ns"] + steps["copy_ns"]
    return Measured.exact(float(waits_ns.sum()) / NS, "s", len(steps))


def _last_shares(ranks: Sequence[Analysed], computes: pd.DataFrame | Missing) -> tuple[Value, ...]:
    """Of each rank the share of the common steps in which it was last, and the others lost a part of the step by that."""
    if isinstance(computes, Missing):
        return (computes,) * len(ranks)
    spent = computes.to_numpy()
    held_ns = (spent - spent.min(axis=1, keepdims=True)).sum(axis=1) / (len(ranks) - 1)
    counts = held_ns > LEAST_HELD * float(np.median(_measured(ranks[0].steps)["chunk_ns"]))
    last = spent.argmin(axis=1)
    return tuple(
        Measured.exact(float((counts & (last == rank)).mean()), "share", len(counts)) for rank in range(len(ranks))
    )


def _by_host(run: Run, every: Sequence[Analysed]) -> tuple[HostSignals, ...]:
    """A row a part, each by its own samples."""
    hosts = host_names(run, [one.rank for one in every])
    parts = {part: [one for one in every if one.rank.main.part == part] for part in range(len(run.parts))}
    return tuple(
        HostSignals(
            host=hosts[part],
            ranks=tuple(one.rank.number for one in own),
            machine=machine_signals(run.part(part), window_of(own[0]) if own else None),
        )
        for part, own in parts.items()
    )


def window_of(one: Analysed) -> tuple[int, int]:
    """The time after warm-up on the clock of the samplers, which know of no gaps."""
    ends, seen = (one.timeline.from_ns, one.timeline.to_ns), one.rank.main.seen
    return ends if seen is None else (seen.apart(ends[0]), seen.apart(ends[1]))


def host_names(run: Run, ranks: Sequence[Rank]) -> dict[int, str]:
    """What each part's host is called in a report: host-1, host-2, ... in the order of their ranks, unless it may name them."""
    parts = list(dict.fromkeys([*(rank.main.part for rank in ranks), *range(max(1, len(run.parts)))]))
    metas = {part: (run.parts[part] if run.parts else run).meta for part in parts}
    own = {part: meta.host or f"part {part}" for part, meta in metas.items()}
    numbers = {host: number for number, host in enumerate(dict.fromkeys(own.values()), 1)}
    return {
        part: host if run.names_hosts and metas[part].host else f"host-{numbers[host]}" for part, host in own.items()
    }


def part_notes(run: Run, ranks: Sequence[Rank]) -> list[Note]:
    """What the parents of the parts noted, each with its host; ranks that are in no part, or in more than one."""
    notes = []
    for part, name in host_names(run, ranks).items():
        said = run.parts[part].meta.notes if run.parts else ()
        notes += [(one["slug"], f"{name}: {one['text']}") for one in said if one["slug"] != RECORDED_AS_A_PART]
    return [*notes, *_missing(run, ranks), *_twice(run)]


def _missing(run: Run, ranks: Sequence[Rank]) -> list[Note]:
    """Where the launcher says how many ranks a host has, and how many there are: whether all hosts are here."""
    mains = [rank.main.header for rank in ranks]
    told = [head for head in mains if head["world_size"] > 0 and head.get("local_world_size", 0) > 0]
    if not told:
        return []
    head = told[0]
    hosts, here = -(-head["world_size"] // head["local_world_size"]), len(_groups(ranks))
    # Hosts may differ in size, and have ranks that load nothing.
    groups = {rank.number - max(0, rank.main.header["local_rank"]): rank.main.header for rank in ranks}
    there = sum(max(0, one.get("local_world_size", 0)) for one in groups.values())
    if there >= head["world_size"] or max(here, len(run.parts)) >= hosts:
        return []
    text = (
        f"The job has {head['world_size']} ranks on {hosts} hosts, and {here} of these was recorded here: a rank elsewhere may "
        "be what the others wait for. Give the run directories of all hosts to `loaderdoctor report`."
    )
    return [("hosts-missing", text)]


def _groups(ranks: Sequence[Rank]) -> set[int]:
    """Launchers, one a host: each has the ranks from a multiple of its size on."""
    return {rank.number - max(0, rank.main.header["local_rank"]) for rank in ranks}


def _twice(run: Run) -> list[Note]:
    """Ranks that two parts have: those are no parts of one job."""
    parts: dict[int, set[int]] = {}
    for process in run.processes:
        if process.header["role"] == ROLE_MAIN and (rank := rank_of(process)) >= 0:
            parts.setdefault(rank, set()).add(process.part)
    twice = Counter(rank for rank, of_rank in parts.items() if len(of_rank) > 1)
    if not twice:
        return []
    named = ", ".join(map(str, sorted(twice)[:4]))
    text = (
        f"Rank {named} is in more than one of the parts, so these are parts of several jobs, or of one that was started again. "
        "Of each rank the process that took most batches counts. Report on each job by itself."
    )
    return [("parts-of-several-jobs", text)]
