"""Runs the ladder: the script as it is written first, then the rungs that are worth a run, until the runs are used up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loaderdoctor import launch
from loaderdoctor.errors import ExitCode, LoaderDoctorError
from loaderdoctor.treat.again import LONG_S, again
from loaderdoctor.treat.remedy import Remedy
from loaderdoctor.treat.trials import AS_WRITTEN, LOG, TREATED, Plan, carried_out, folder_of, run_of, trial_of
from loaderdoctor.tune.forecast import Forecast
from loaderdoctor.tune.ladder import Choice, State, best_of, steps_of_ladder
from loaderdoctor.tune.rung import Rung
from loaderdoctor.tune.seen import seen_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.record import Run
    from loaderdoctor.treat.trials import Launch

    Tell = Callable[[Rung], None]

MOST_RUNS = 6  # one for each setting of the ladder, and one past the knee


@dataclass(frozen=True)
class Task:
    """A command to tune, the folder that keeps the runs, and how long each of them is."""

    command: launch.Command
    folder: Path
    steps: int | None = None
    most_runs: int = MOST_RUNS


@dataclass(frozen=True)
class Climbed:
    """All rungs in order, those that were not run among them; `run` and `signals` are of the script as written."""

    run: Run
    signals: Signals
    loader: LoaderSignals
    rungs: tuple[Rung, ...]
    forecast: Forecast | None  # of the script as written
    interrupted: bool = False

    @property
    def best(self) -> Rung:
        """The fastest; the leaner where two are as fast."""
        return best_of(self.rungs)

    @property
    def runs(self) -> int:
        """How often the script ran."""
        return sum(rung.run_dir is not None for rung in self.rungs)


def climb(task: Task, tell: Tell = lambda _rung: None, start: Launch = launch.launch) -> Climbed:
    """Up the ladder; `tell` hears of each rung.

    LoaderDoctorError where the script as written fails or cannot be tuned; a rung that fails is a rung that says so.
    """
    climbed = _as_written(task, start)
    tell(climbed.rungs[0])
    forecasts = {0: climbed.forecast}  # by number of the rung
    plan = _plan(task, climbed)
    for choose in steps_of_ladder():
        best = climbed.rungs.index(climbed.best)
        state = State(climbed.signals, climbed.loader, climbed.rungs, forecasts.get(best))
        choice: Choice = choose(state)
        if choice is None:
            continue
        rung, forecast = replace(choice, promised=_promise(climbed, choice.settings)), None
        if not rung.why:
            if climbed.runs >= task.most_runs:
                break
            ran = _run(plan, climbed, rung, start)
            if ran is None:
                return replace(climbed, interrupted=True)
            rung, forecast = ran
        forecasts[len(climbed.rungs)] = forecast
        climbed = replace(climbed, rungs=(*climbed.rungs, rung))
        tell(rung)
    return climbed


def _as_written(task: Task, start: Launch) -> Climbed:
    run_dir = folder_of(task.folder, 1, AS_WRITTEN)
    trial = launch.Trial(folder=str(Path.cwd()), log=run_dir / LOG)
    seconds = LONG_S if task.steps is None else None
    options = launch.Options(output=str(run_dir), steps=task.steps, seconds=seconds, trial=trial)
    ran = carried_out(task.command, options, AS_WRITTEN, start)
    if ran is None:
        raise LoaderDoctorError("tune-interrupted", "Interrupted before anything was measured.", ExitCode.NO_REPORT)
    loader = _tunable(ran.signals)
    seen = seen_in(ran.run, ran.signals, loader)
    rung = Rung(AS_WRITTEN, seen=seen, run_dir=run_dir)
    forecast = Forecast.of(ran.signals, loader, seen.step_s.value, loader.settings)
    return Climbed(ran.run, ran.signals, loader, (rung,), forecast)


def _tunable(signals: Signals) -> LoaderSignals:
    """The main training loader.  LoaderDoctorError `nothing-to-tune` where nobody can set anything of it."""
    loader = signals.main
    if loader is None or loader.role != "train":
        why = "The script took no batch of training from a DataLoader."
    elif not loader.settings.torch_loader:
        why = f"Its training loader is {loader.settings.loader_type}, whose settings are not torch's."
    elif loader.site is None:
        why = "Where its training loader is built was not recorded."
    else:
        return loader
    raise LoaderDoctorError("nothing-to-tune", f"There is nothing to tune. {why}", ExitCode.NO_REPORT)


def _plan(task: Task, climbed: Climbed) -> Plan:
    """The same for every rung but for its remedy.  LoaderDoctorError `run-not-repeatable`."""
    repeated = replace(again(climbed.run.meta, climbed.signals, task.command.argv, task.steps), command=task.command)
    return Plan(climbed.signals, Remedy(climbed.loader), repeated, task.folder)


def _promise(climbed: Climbed, settings: Mapping[str, Any]) -> Any:
    return climbed.forecast.speedup(settings) if climbed.forecast is not None and settings else None


def _run(plan: Plan, climbed: Climbed, rung: Rung, start: Launch) -> tuple[Rung, Forecast | None] | None:
    """What came of it; None where it was interrupted."""
    number = climbed.runs + 1
    run_dir = plan.directory / f"{number}-{TREATED}"
    plan = replace(plan, remedy=Remedy(climbed.loader, settings=rung.settings))
    try:
        ran = run_of(plan, number, TREATED, start)
        repeats = ran is not None and trial_of(plan, TREATED, ran).repeats
    except LoaderDoctorError as error:
        return replace(rung, why=error.sentence, run_dir=run_dir), None
    if ran is None:
        return None
    if repeats:
        why = "each worker made all batches of the stream, so what was trained is not the same"
        return replace(rung, why=why, run_dir=run_dir), None
    loader = next((one for one in ran.signals.loaders if one.id == climbed.loader.id), None)
    if loader is None:
        return replace(rung, why=f"it has no loader {climbed.loader.id}", run_dir=run_dir), None
    seen = seen_in(ran.run, ran.signals, loader)
    forecast = Forecast.of(ran.signals, loader, seen.step_s.value, climbed.loader.settings)
    return replace(rung, seen=seen, run_dir=run_dir), forecast
