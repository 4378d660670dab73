"""A run becomes signals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from loaderdoctor.analyse import starved, training
from loaderdoctor.analyse.around import disk_signals, machine_signals, worker_samples
from loaderdoctor.analyse.device import CPU, device_signals, kind_of, no_device
from loaderdoctor.analyse.each_loader import Recorded, loader_signals
from loaderdoctor.analyse.exposure import DEVICE, HOST, with_exposure
from loaderdoctor.analyse.frames import NS, table
from loaderdoctor.analyse.job import job_of, lead_of, together
from loaderdoctor.analyse.loaders import Loader, loaders_of
from loaderdoctor.analyse.phases import phases_of
from loaderdoctor.analyse.ranks import Rank, rank_of, ranks_of
from loaderdoctor.analyse.signals import Phase, Signals, StepSignals, TrainingSignals
from loaderdoctor.analyse.stages import named_stages, stacks
from loaderdoctor.analyse.steady import no_steps, steady_of, step_signals
from loaderdoctor.analyse.timeline import Timeline, timeline_of
from loaderdoctor.analyse.trace import before_windows, trace_notes
from loaderdoctor.analyse.work import made_of
from loaderdoctor.probe.layout import ROLE_MAIN, UNKNOWN
from loaderdoctor.probe.writer import reason_of
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from loaderdoctor.analyse.around import WorkerSample
    from loaderdoctor.record.run import ProcessRecords, Run

    Note = tuple[str, str]

NO_LOADER = Missing("no-loader", "No process of the script took a batch from a DataLoader.")

# What one record in the training process costs it, with the readings that fill it: a batch without workers leaves five
# records (next, fetch, busy, optimizer step, and one in between) and was measured to cost below 20 us.
RECORD_S = 4e-6


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
    """Everything derived from a run; never fails for what a run lacks, but says what is missing."""
    traced = [note for process in run.processes for note in trace_notes(process)]
    run = before_windows(run)
    ranks, notes = ranks_of(run)
    analysed = _step_together([_analysed(rank) for rank in ranks])
    notes = (*_notes(run), *traced, *notes)
    if not analysed:
        return _without_loaders(run, notes)
    roles = [one.roles for one in analysed]
    shares = [_share(one) for one in analysed]
    trainings = [_training(run, one) for one in analysed]
    job = job_of(run, [one.steps for one in analysed], roles, shares, [one.cores for one in trainings])
    lead = lead_of(shares, job)
    first = analysed[lead]
    window = (first.timeline.from_ns, first.timeline.to_ns) if len(first.measured) else None
    machine = machine_signals(run, window)
    cores = _cores(first.rank, machine.cpus_allowed)
    recorded = _recorded(first, cores, worker_samples(run, window), trainings[lead].cores)
    main = first.loaders[0] if first.loaders else None
    copies_known = first.clock == DEVICE or kind_of(first.rank.main) == CPU
    return Signals(
        clock=first.clock,
        starved_share=_job_share(analysed),
        measured_s=first.timeline.measured_s,
        warm_up_steps=first.timeline.warm_up,
        steps=_steps(first, main, recorded, copies_known=copies_known),
        phases=_phases(run, first),
        loaders=tuple(loader_signals(loader, recorded) for loader in first.loaders),
        device=device_signals(first.rank.main, first.timeline, _with_span(first.measured), first.clock),
        machine=machine,
        ranks=len(analysed),
        rank_shares=tuple(share.value for share in shares if isinstance(share, Measured)),
        overhead_share=_overhead(first),
        lost_records=_lost(run),
        lost_share=_lost_share(run),
        notes=(*notes, *_timeline_notes(first)),
        disk=disk_signals(run, window),
        job=job,
        training=trainings[lead],
    )


def _training(run: Run, one: _Analysed) -> TrainingSignals:
    slow, early = training.slow_steps(one.steps, one.loaders[0] if one.loaders else None, one.roles)
    return TrainingSignals(
        cores=training.compute_cores(run, one.rank, one.timeline),
        run_queue_share=training.run_queue_share(run, one.rank, one.timeline),
        slow_share=slow,
        slow_early_share=early,
    )


def _step_together(analysed: Sequence[_Analysed]) -> list[_Analysed]:
    """With what each rank waited for the last one in each step, on the host's clock."""
    steps = together([one.steps for one in analysed], [one.roles for one in analysed])
    return [replace(one, steps=its_steps) for one, its_steps in zip(analysed, steps, strict=True)]


def _analysed(rank: Rank) -> _Analysed:
    timeline = timeline_of(rank.main)
    clock, steps = with_exposure(timeline, rank.main)
    return _Analysed(rank, timeline, steps, clock, loaders_of(rank.main, timeline.taken_from, steps, timeline.loops))


def _recorded(one: _Analysed, cores: float, samples: Mapping[int, WorkerSample], busy: Value) -> Recorded:
    made = made_of(one.rank, one.timeline)
    return Recorded(
        rank=one.rank,
        timeline=one.timeline,
        steps=one.steps,
        clock=one.clock,
        made=made,
        stages=named_stages(one.rank, one.timeline, made),
        stacks=stacks(one.rank, one.timeline),
        roles=one.roles,
        cores=cores,
        worker_samples=samples,
        compute_cores=busy,
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
    if one.timeline.trains_elsewhere and one.clock == HOST:
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
    began_ns = run.meta.started_ns
    ended_ns = run.meta.ended_ns if run.meta.ended_ns is not None else last_ns
    if not began_ns <= first_ns <= last_ns <= ended_ns:
        began_ns, ended_ns = first_ns, last_ns
    return phases_of(one.timeline, one.roles, began_ns, ended_ns)


def _overhead(one: _Analysed) -> Value:
    """An estimate: the records of the training process at their measured cost, of the time in which it took batches."""
    seconds = (int(one.timeline.calls["end_ns"].max()) - int(one.timeline.loops["begin_ns"].min())) / NS
    records = sum(len(next(iter(columns.values()))) for columns in one.rank.main.tables.values())
    if seconds <= 0:
        return starved.NO_STEPS
    best = records * RECORD_S / seconds
    return Measured(best, best / 2, best * 2, records, "share")  # machines differ by a factor of two either way


def _lost(run: Run) -> int:
    """Records that were torn, and those that processes could not write, as each said last."""
    said = [int(table(process, "lost")["records"].iloc[-1]) for process in run.processes if "lost" in process.tables]
    return sum(process.torn for process in run.processes) + sum(said) + run.unwritten[0]


def _lost_share(run: Run) -> float:
    """Of all records that there were to write."""
    kept = sum(len(next(iter(columns.values()))) for process in run.processes for columns in process.tables.values())
    lost = _lost(run)
    return lost / (lost + kept) if lost else 0.0


def _why_lost(run: Run) -> list[Note]:
    """One note on records that could not be written, with every reason that the system gave."""
    reasons = {int(why) for process in run.processes for why in table(process, "lost")["errno"]}
    reasons |= {run.unwritten[1]} if run.unwritten[0] else set()
    if not reasons:
        return []
    why = "; ".join(sorted(reason_of(reason) for reason in reasons))
    text = f"{_lost(run):,} records could not be written: {why}. The report is made of what is left."
    return [("records-lost", text)]


def _notes(run: Run) -> tuple[Note, ...]:
    """What the parent and the processes noted, each note once."""
    notes = [(str(note["slug"]), str(note["text"])) for note in run.meta.notes]
    for process in run.processes:
        notes += _notes_of(process)
    return tuple(dict.fromkeys([*notes, *_why_lost(run)]))


def _notes_of(process: ProcessRecords) -> list[Note]:
    rows = table(process, "note")
    texts = process.texts
    return [
        (texts[slug], texts.get(sentence, ""))
        for slug, sentence in zip(rows["slug_text"], rows["sentence_text"], strict=True)
        if slug in texts
    ]


def _timeline_notes(one: _Analysed) -> list[Note]:
    timeline = one.timeline
    notes: list[Note] = []
    if timeline.nested_calls:
        text = f"{timeline.nested_calls} batches were taken inside another loader's next(); they count as part of its wait."
        notes.append(("nested-loader", text))
    if timeline.trains_elsewhere:
        notes.append(("background-consumer", starved.BACKGROUND.reason))
    if timeline.other_threads:
        text = f"{timeline.other_threads} more threads iterate loaders; their waits do not hold up the training thread."
        notes.append(("other-threads", text))
    return notes


def _without_loaders(run: Run, notes: tuple[Note, ...]) -> Signals:
    """All that can be said of a run that never took a batch."""
    ended_ns = run.meta.ended_ns
    seconds = (ended_ns - run.meta.started_ns) / NS if ended_ns is not None else 0.0
    ranks = {rank_of(process) for process in run.processes if process.header["role"] == ROLE_MAIN} - {UNKNOWN}
    return Signals(
        clock=HOST,
        starved_share=NO_LOADER,
        measured_s=0.0,
        warm_up_steps=0,
        steps=no_steps(NO_LOADER, {}),
        phases=(Phase("start-up", seconds, 1.0, 0.0),) if seconds > 0 else (),
        loaders=(),
        device=no_device(NO_LOADER),
        machine=machine_signals(run),
        ranks=max(1, len(ranks)),
        rank_shares=(),
        overhead_share=NO_LOADER,
        lost_records=_lost(run),
        lost_share=_lost_share(run),
        notes=(*notes, (NO_LOADER.slug, NO_LOADER.reason)),
        disk=disk_signals(run),
    )
