"""A run becomes signals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from loaderdoctor.analyse import by_rank, starved, training
from loaderdoctor.analyse.between import loop_signals
from loaderdoctor.analyse.broken import broken_signals
from loaderdoctor.analyse.changes import spells_of
from loaderdoctor.analyse.device import CPU, device_signals, kind_of, no_device
from loaderdoctor.analyse.each_loader import Recorded, loader_signals
from loaderdoctor.analyse.exposure import DEVICE, HOST, with_exposure
from loaderdoctor.analyse.extent import counted_only
from loaderdoctor.analyse.frames import NS, table
from loaderdoctor.analyse.job import computes_of, job_of, lead_of, together
from loaderdoctor.analyse.loaders import TRAIN, Loader, loaders_of
from loaderdoctor.analyse.notes import lost_records, lost_share, notes_of, timeline_notes
from loaderdoctor.analyse.own_cost import own_share
from loaderdoctor.analyse.parts import Parts, absent, with_sound_workers
from loaderdoctor.analyse.phases import as_long, phases_of
from loaderdoctor.analyse.ranks import Rank, rank_of, ranks_of
from loaderdoctor.analyse.signals import (
    BrokenSignals,
    JobSignals,
    LoopSignals,
    Phase,
    ProcessSignals,
    Signals,
    StepSignals,
    TrainingSignals,
)
from loaderdoctor.analyse.stages import named_stages, stacks
from loaderdoctor.analyse.steady import no_steps, steady_of, step_signals, step_times
from loaderdoctor.analyse.stretch import stretch_of
from loaderdoctor.analyse.surroundings import around_it
from loaderdoctor.analyse.timeline import Timeline, timeline_of
from loaderdoctor.analyse.trace import before_windows, trace_notes
from loaderdoctor.analyse.work import made_of
from loaderdoctor.probe.layout import ROLE_MAIN, UNKNOWN
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from loaderdoctor.analyse.around import WorkerSample
    from loaderdoctor.record.run import Run

WINDOW = "The window under torch's profiler"
NO_LOADER = Missing("no-loader", "No process of the script took a batch from a DataLoader.")


@dataclass(frozen=True)
class _Analysed:
    """One rank, as far as all ranks are analysed."""

    rank: Rank
    timeline: Timeline
    steps: pd.DataFrame  # with exposure
    clock: str
    loaders: tuple[Loader, ...]

    @property
    def roles(self) -> dict[int, str]:
        """Role of each DataLoader by number."""
        return {number: loader.role for loader in self.loaders for number in loader.numbers}

    @property
    def measured(self) -> pd.DataFrame:
        """The steps after warm-up."""
        return self.steps[self.steps["measured"]]


def signals_of(run: Run) -> Signals:
    """Everything derived from a run; never fails for what a run lacks or holds, but says what is missing."""
    parts = Parts()
    return parts.of(
        "The run", lambda: _signals_of(run, parts), lambda why: _without_loaders(run, tuple(parts.notes), why, Parts())
    )


def _signals_of(run: Run, parts: Parts) -> Signals:
    traced = [note for one in run.processes for note in parts.of(WINDOW, partial(trace_notes, one), lambda _: [])]
    run = parts.of(WINDOW, lambda: before_windows(run), lambda _: run)
    ranks, beside, notes = parts.of("The ranks", lambda: ranks_of(run), lambda _: ((), (), ()))
    analysed, others = _each(ranks, parts), _alone(_each(beside, parts))
    analysed = parts.of(
        "The ranks' steps beside each other", lambda: _step_together(analysed), lambda _: _alone(analysed)
    )
    said = parts.of("The parts of the job", lambda: by_rank.part_notes(run, ranks), lambda _: [])
    notes = (*notes_of(run), *said, *traced, *notes)
    if not analysed:
        why = Missing(*parts.notes[-1]) if ranks else NO_LOADER
        return _without_loaders(run, (*notes, *parts.notes), why, parts)
    shares = [parts.of("The share of waiting of a rank", partial(_share, one), _same) for one in analysed]
    busy = [parts.of("The training's cores", partial(_cores_of_training, run, one), _same) for one in analysed]
    computes = parts.of("What the ranks compute in the same steps", lambda: _computes(analysed), lambda why: why)
    job = parts.of(
        "The ranks of the job", lambda: _job(run, computes, analysed, shares, busy), partial(absent, JobSignals)
    )
    lead = lead_of(shares, job)
    first = analysed[lead]
    here = run.part(first.rank.main.part)
    its_training = parts.of(
        "The training", lambda: _training(here, first, busy[lead]), partial(absent, TrainingSignals)
    )
    window = by_rank.window_of(first) if len(first.measured) else None
    machine, disk, samples, hardware = around_it(here, window, first.rank.main.pid, parts)
    cores = parts.of("The cores of the job", lambda: _cores(first.rank, machine.cpus_allowed), lambda _: 1.0)
    recorded = _recorded(first, cores, samples, run.sources, busy=its_training, parts=parts)
    main = first.loaders[0] if first.loaders else None
    copies_known = first.clock == DEVICE or kind_of(first.rank.main) == CPU
    steps = partial(_steps, first, main, recorded, copies_known=copies_known)
    device = partial(device_signals, first.rank.main, first.timeline, _with_span(first.measured), first.clock)
    return Signals(
        clock=first.clock,
        starved_share=parts.of("The share of waiting", lambda: _job_share(analysed), _same),
        measured_s=first.timeline.measured_s,
        warm_up_steps=first.timeline.warm_up,
        steps=parts.of("The steps", steps, lambda why: no_steps(why, {})),
        phases=parts.of("The phases", lambda: _phases(here, first), lambda _: ()),
        loaders=tuple(loader_signals(loader, recorded, parts) for loader in first.loaders),
        device=parts.of("The device", device, no_device),
        machine=machine,
        ranks=len(analysed),
        rank_shares=tuple(share.value for share in shares if isinstance(share, Measured)),
        overhead_share=parts.of("The overhead", lambda: own_share(first.rank.main), _same),
        lost_records=lost_records(run),
        lost_share=lost_share(run),
        notes=tuple(
            dict.fromkeys(
                (*notes, *timeline_notes(run, first.rank.main, first.timeline, len(first.steps)), *parts.notes)
            )
        ),
        disk=disk,
        loop=parts.of(
            "The loop",
            lambda: loop_signals(first.rank.main, first.timeline, first.roles, recorded.made),
            lambda why: absent(LoopSignals, why),
        ),
        hardware=hardware,
        job=by_rank.named(job, run, analysed),
        training=its_training,
        spells=parts.of(
            "The changes over the run",
            lambda: spells_of(first.steps, first.rank.main, main, here.meta.started_ns),
            lambda _: (),
        ),
        training_steps=sum(first.roles.get(number) == TRAIN for number in first.measured["loader"]),
        times=step_times(first.steps, first.roles, is_whole=first.rank.main.seen is None),
        broken=parts.of(
            "How the run broke off", lambda: broken_signals(here, first.rank), lambda why: absent(BrokenSignals, why)
        ),
        stretch=parts.of(
            "A typical stretch of the run",
            lambda: stretch_of(first.rank, len(analysed), first.timeline, recorded.made),
            lambda _: None,
        ),
        processes=parts.of(
            "The processes beside each other",
            lambda: by_rank.process_signals(
                run, first, analysed, others, computes=computes, shares=[*shares, *map(_share, others)]
            ),
            lambda _: ProcessSignals(),
        ),
    )


def _same(reason: Missing) -> Value:
    return reason


def _cores_of_training(run: Run, one: _Analysed) -> Value:
    return training.compute_cores(run.part(one.rank.main.part), one.rank, one.timeline)


def _training(run: Run, one: _Analysed, cores: Value) -> TrainingSignals:
    slow, early = training.slow_steps(one.steps, one.loaders[0] if one.loaders else None, one.roles)
    return TrainingSignals(
        cores=cores,
        run_queue_share=training.run_queue_share(run, one.rank, one.timeline),
        slow_share=slow,
        slow_early_share=early,
    )


def _step_together(analysed: Sequence[_Analysed]) -> list[_Analysed]:
    """With what each rank waited for the last one in each step, on the host's clock."""
    one_clock = by_rank.share_a_clock(analysed)
    steps = together([one.steps for one in analysed], [one.roles for one in analysed], one_clock=one_clock)
    return [replace(one, steps=its_steps) for one, its_steps in zip(analysed, steps, strict=True)]


def _each(ranks: Sequence[Rank], parts: Parts) -> list[_Analysed]:
    found = [parts.of(f"Rank {rank.number}", partial(_analysed, rank, parts), lambda _: None) for rank in ranks]
    return [one for one in found if one is not None]


def _alone(analysed: Sequence[_Analysed]) -> list[_Analysed]:
    return [replace(one, steps=one.steps.assign(held_ns=0.0)) for one in analysed]


def _computes(analysed: Sequence[_Analysed]) -> pd.DataFrame | Missing:
    steps, roles = [one.steps for one in analysed], [one.roles for one in analysed]
    return computes_of(steps, roles, one_clock=by_rank.share_a_clock(analysed))


def _job(
    run: Run,
    computes: pd.DataFrame | Missing,
    analysed: Sequence[_Analysed],
    shares: Sequence[Value],
    busy: Sequence[Value],
) -> JobSignals:
    steps, roles = [one.steps for one in analysed], [one.roles for one in analysed]
    return job_of(run, computes, steps, roles, shares=shares, cores=busy)


def _analysed(rank: Rank, parts: Parts) -> _Analysed:
    timeline = timeline_of(rank.main)
    clock, steps = parts.of(
        "The device's clock",
        lambda: with_exposure(timeline, rank.main),
        lambda _: with_exposure(timeline, replace(rank.main, tables={})),
    )
    taken = timeline.taken_from | counted_only(rank.main)
    return _Analysed(rank, timeline, steps, clock, loaders_of(rank.main, taken, steps, timeline.loops))


def _recorded(
    one: _Analysed,
    cores: float,
    samples: Mapping[int, WorkerSample],
    sources: Mapping[str, str],
    *,
    busy: TrainingSignals,
    parts: Parts,
) -> Recorded:
    """A rank's records, joined; without those of processes that nothing can be made of."""

    def joined(rank: Rank) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        made = made_of(rank, one.timeline)
        return made, named_stages(rank, one.timeline, made), stacks(rank, one.timeline)

    rank = one.rank
    try:
        made, stages, found = joined(rank)
    except Exception:  # noqa: BLE001 - what is at fault is looked for, and said
        rank = with_sound_workers(rank, joined, parts)
        made, stages, found = joined(rank)
    return Recorded(
        rank=replace(rank, main=one.rank.main),
        timeline=one.timeline,
        steps=one.steps,
        clock=one.clock,
        made=made,
        stages=stages,
        stacks=found,
        roles=one.roles,
        cores=cores,
        worker_samples=samples,
        sources=sources,
        compute_cores=busy.cores,
        compute_queued=busy.run_queue_share,
    )


def _cores(rank: Rank, allowed: Value) -> float:
    """CPUs that the job may use; where nobody looked, as many as its processes are, which did run side by side."""
    if isinstance(allowed, Measured):
        return allowed.value
    affinities = [
        int(count)
        for life in rank.workers
        if life.process is not None
        for count in table(life.process, "worker_ready")["affinity"]
        if count > 0
    ]
    return float(max(affinities, default=len({life.index for life in rank.workers}) + 1))


def _share(one: _Analysed) -> Value:
    if one.timeline.trains_elsewhere and not one.timeline.is_followed and one.clock == HOST:
        return starved.BACKGROUND
    return starved.starved_share(one.measured)


def _job_share(analysed: Sequence[_Analysed]) -> Value:
    first = _share(analysed[0])
    if isinstance(first, Missing):
        return first
    return starved.job_share([one.steps for one in analysed], [one.roles for one in analysed])


def _with_span(steps: pd.DataFrame) -> pd.DataFrame:
    return steps.assign(span_ns=steps["end_ns"] - steps["begin_ns"])


def _steps(one: _Analysed, main: Loader | None, recorded: Recorded, *, copies_known: bool) -> StepSignals:
    if main is None:
        return step_signals(_with_span(one.steps.iloc[:0]), {}, None, one.clock, copies_known=copies_known)
    steady, excluded = steady_of(one.steps, main, one.roles)
    samples = recorded.made.loc[recorded.made["loader"].isin(main.numbers), "samples"]
    samples = samples[samples > 0]  # a fetch that finds an iterable dataset at its end takes none
    size = float(samples.mean()) if len(samples) else main.settings.batch_size
    return step_signals(steady, excluded, size, one.clock, copies_known=copies_known)


def _phases(run: Run, one: _Analysed) -> tuple[Phase, ...]:
    """Of the whole run as the parent saw it, or of what the process recorded where clocks differ between processes."""
    first_ns = one.rank.main.header["opened_ns"]
    last_ns = int(max(one.timeline.calls["end_ns"].max(), one.timeline.to_ns))
    began_ns, seen = run.meta.started_ns, one.rank.main.seen
    ended_ns = run.meta.ended_ns if run.meta.ended_ns is not None else last_ns
    if seen is not None and run.meta.ended_ns is not None:
        return as_long(phases_of(one.timeline, one.roles, began_ns, seen.ended(ended_ns)), (ended_ns - began_ns) / NS)
    if not began_ns <= first_ns <= last_ns <= ended_ns:
        began_ns, ended_ns = first_ns, last_ns
    return phases_of(one.timeline, one.roles, began_ns, ended_ns)


def _without_loaders(run: Run, notes: tuple[tuple[str, str], ...], why: Missing, parts: Parts) -> Signals:
    """All that can be said of a run that never took a batch, or of one whose batches nothing can be made of."""
    ended_ns = run.meta.ended_ns
    seconds = (ended_ns - run.meta.started_ns) / NS if ended_ns is not None else 0.0
    ranks = {rank_of(process) for process in run.processes if process.header["role"] == ROLE_MAIN} - {UNKNOWN}
    machine, disk, _, _ = around_it(run, None, UNKNOWN, parts)
    return Signals(
        clock=HOST,
        starved_share=why,
        measured_s=0.0,
        warm_up_steps=0,
        steps=no_steps(why, {}),
        phases=(Phase("start-up", seconds, 1.0, 0.0),) if seconds > 0 else (),
        loaders=(),
        device=no_device(why),
        machine=machine,
        ranks=max(1, len(ranks)),
        rank_shares=(),
        overhead_share=why,
        lost_records=lost_records(run),
        lost_share=lost_share(run),
        notes=tuple(dict.fromkeys((*notes, *parts.notes, (why.slug, why.reason)))),
        disk=disk,
    )
