"""Runs a script as it is written and treated in turns, until their difference is known well enough."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from loaderdoctor import analyse, launch, record
from loaderdoctor.analyse.notes import notes_of
from loaderdoctor.errors import ExitCode, LoaderDoctorError
from loaderdoctor.probe.kept import SLUG
from loaderdoctor.treat.forcing import alike, injected
from loaderdoctor.treat.gains import Pace, is_narrow, speedup_of
from loaderdoctor.treat.reached import Reached, reached
from loaderdoctor.values import Value, value_or_none

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from loaderdoctor.analyse.signals import Signals
    from loaderdoctor.record import Run
    from loaderdoctor.treat.again import Again
    from loaderdoctor.treat.remedy import Remedy
    from loaderdoctor.values import Measured

    Launch = Callable[[launch.Command, launch.Options], launch.Launched]

AS_WRITTEN, TREATED = "as-written", "treated"
LEAST_RUNS = 4  # two of each kind: the least that shows whether equal runs are equal here
MOST_RUNS = 12  # beyond it, what makes runs differ is no chance, and more of them would not average it out
MOST_S = 900.0  # a quarter of an hour of somebody's machine; no run begins that would be over only after it
FEWEST_STEPS = 20  # after warm-up, as for a verdict: fewer could be overturned by one block of slow steps
REPEATED = 0.5  # of first batches that another worker made as well, as for the cause `iterable-duplicates`
LOG = "output.txt"  # in the folder of a run: what the script wrote
TAIL_BYTES = 4096  # of the output of a script that failed: its last line is in them


@dataclass(frozen=True)
class Plan:
    """What is to be tried on which run, how that is run again, and the folder that keeps a folder for each trial."""

    signals: Signals
    remedy: Remedy
    again: Again
    directory: Path


@dataclass(frozen=True)
class Ran:
    """A run that came to its end, as it was read back."""

    run_dir: Path
    run: Run
    signals: Signals


@dataclass(frozen=True)
class Trial:
    """One run: how fast it went, its share of waiting, and what became of the settings."""

    kind: str
    run_dir: Path
    pace: Pace
    starved_share: Value
    reached: Reached
    repeats: bool = False  # each worker made all batches of a stream: the treated training is another one


@dataclass(frozen=True)
class Trials:
    """All runs of one remedy, in order."""

    trials: tuple[Trial, ...]
    interrupted: bool = False

    def of(self, kind: str) -> list[Trial]:
        """Those of one kind."""
        return [trial for trial in self.trials if trial.kind == kind]

    @property
    def speedup(self) -> Measured:
        """Of treated runs over those as written."""
        return speedup_of(*([trial.pace for trial in self.of(kind)] for kind in (AS_WRITTEN, TREATED)))

    @property
    def is_enough(self) -> bool:
        """Whether there are runs of both kinds."""
        return all(self.of(kind) for kind in (AS_WRITTEN, TREATED))


@dataclass(frozen=True)
class Limits:
    """When to stop, whatever is known by then."""

    least_runs: int = LEAST_RUNS
    most_runs: int = MOST_RUNS
    seconds: float = MOST_S


def in_turns() -> Iterator[str]:
    """A B B A A B B A ...: what changes steadily, such as a cache that fills or a machine that warms, favours neither."""
    while True:
        yield from (AS_WRITTEN, TREATED, TREATED, AS_WRITTEN)


def try_out(
    plan: Plan,
    limits: Limits,
    *,
    tell: Callable[[Trial, Trials], None] = lambda _trial, _trials: None,
    start: Launch = launch.launch,
    clock: Callable[[], float] = time.monotonic,
) -> Trials:
    """The runs of a plan; `tell` hears of each that ends.

    LoaderDoctorError `trial-failed`, `trial-too-short` or `treatment-not-applied`.  Interrupted, it gives back what there is.
    """
    began_s = clock()
    trials = Trials(())
    for number, kind in enumerate(in_turns(), 1):
        began_run_s = clock()
        trial = run_once(plan, number, kind, start)
        if trial is None:
            return Trials(trials.trials, interrupted=True)
        trials = Trials((*trials.trials, trial))
        tell(trial, trials)
        if number >= limits.most_runs:
            return trials
        if number >= limits.least_runs and number % 2 == 0 and is_narrow(trials.speedup):
            return trials
        if trials.is_enough and clock() + (clock() - began_run_s) - began_s > limits.seconds:
            return trials
    raise AssertionError  # turns never end


def run_once(plan: Plan, number: int, kind: str, start: Launch = launch.launch) -> Trial | None:
    """One run, as it is written or with the remedy; None where it was interrupted.

    LoaderDoctorError as `try_out`.
    """
    ran = run_of(plan, number, kind, start)
    return None if ran is None else trial_of(plan, kind, ran)


def run_of(plan: Plan, number: int, kind: str, start: Launch = launch.launch) -> Ran | None:
    """The same, read back and not yet judged.  LoaderDoctorError `trial-failed` or `trial-too-short`."""
    remedy, again, run_dir = plan.remedy, plan.again, folder_of(plan.directory, number, kind)
    trial = launch.Trial(folder=again.folder, log=run_dir / LOG)
    if kind == TREATED:
        forced = injected(plan.signals, remedy.loader, remedy.settings, again.folder, keeps=remedy.is_ceiling)
        trial = replace(trial, injected=forced, variables=dict(remedy.variables))
    return carried_out(again.command, launch.Options(output=str(run_dir), steps=again.steps, trial=trial), kind, start)


def folder_of(directory: Path, number: int, kind: str) -> Path:
    """Made, for one run."""
    run_dir = directory / f"{number}-{kind}"
    run_dir.mkdir(mode=0o700, parents=True)
    return run_dir


def carried_out(command: launch.Command, options: launch.Options, kind: str, start: Launch) -> Ran | None:
    """A run of a command, read back; None where it was interrupted.  LoaderDoctorError `trial-failed` or `trial-too-short`."""
    launched = start(command, options)
    run_dir = launched.run_dir
    run = record.read(run_dir)
    if run.meta.ended_by == "interrupt":
        return None
    if launched.returncode and run.meta.ended_by not in {"steps", "seconds"}:
        raise _failed(kind, launched.returncode, run_dir / LOG)
    signals = analyse.signals_of(run)
    if signals.training_steps < FEWEST_STEPS:
        sentence = (
            f"The run {_in_words(kind)} had {signals.training_steps} steps of training after warm-up; a comparison needs "
            f"{FEWEST_STEPS}. Its output is in {run_dir / LOG}."
        )
        raise LoaderDoctorError("trial-too-short", sentence, ExitCode.NO_REPORT)
    return Ran(run_dir, run, signals)


def trial_of(plan: Plan, kind: str, ran: Ran) -> Trial:
    """What a run counts as.  LoaderDoctorError `treatment-not-applied`."""
    remedy, is_treated = plan.remedy, kind == TREATED
    seen = reached(ran.run, remedy, plan.again.folder, alike(plan.signals, remedy.loader))
    if is_treated:
        _hold(seen, remedy, ran.run_dir)
        _hold_ceiling(ran, remedy)
    pace = Pace(ran.signals.measured_s, ran.signals.training_steps)
    repeats = is_treated and _repeats(ran.signals, remedy)
    return Trial(kind, ran.run_dir, pace, ran.signals.starved_share, seen, repeats)


def _repeats(found: Signals, remedy: Remedy) -> bool:
    """Whether its workers each yield the whole stream, which they did not as long as there was one, or none."""
    loader = next((one for one in found.loaders if one.id == remedy.loader.id), None)
    share = value_or_none(loader.order.repeated_share) if loader is not None else None
    return share is not None and share >= REPEATED


def _hold(seen: Reached, remedy: Remedy, run_dir: Path) -> None:
    """Nothing counts as treated that was not."""
    if not remedy.settings or seen.is_treated:
        return
    place = f"{remedy.loader.site.file}:{remedy.loader.site.line}" if remedy.loader.site else remedy.loader.id
    why = (
        f"no loader was built at {place}, where the run had it"
        if not seen.loaders
        else f"the loader of {place} has {seen.otherwise} all the same"
    )
    sentence = f"The settings did not reach the training: {why}. The run is in {run_dir}."
    raise LoaderDoctorError("treatment-not-applied", sentence, ExitCode.NO_REPORT)


def _hold_ceiling(ran: Ran, remedy: Remedy) -> None:
    if remedy.is_ceiling and SLUG not in {slug for slug, _ in notes_of(ran.run)}:
        sentence = f"No batch was kept: the loader {remedy.loader.id} does not make its own as torch's does. The run is in {ran.run_dir}."
        raise LoaderDoctorError("treatment-not-applied", sentence, ExitCode.NO_REPORT)


def _failed(kind: str, returncode: int, log: Path) -> LoaderDoctorError:
    how = f"died of signal {-returncode}" if returncode < 0 else f"ended with status {returncode}"
    last = _last_words(log)
    sentence = f"The script {how} {_in_words(kind)}{f': {last}' if last else ''}. Its output is in {log}."
    return LoaderDoctorError("trial-failed", sentence, ExitCode.NO_REPORT)


def _last_words(log: Path) -> str:
    """The last line that a script wrote, which is what its exception says."""
    try:
        lines = log.read_bytes()[-TAIL_BYTES:].decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "").rstrip(".")


def _in_words(kind: str) -> str:
    return "with the treatment" if kind == TREATED else "as it is written"


def share_of(trials: list[Trial]) -> float | None:
    """The mean share of waiting of some runs; None where one of them has none."""
    shares = [value_or_none(trial.starved_share) for trial in trials]
    known = [share for share in shares if share is not None]
    return sum(known) / len(known) if known and len(known) == len(shares) else None
