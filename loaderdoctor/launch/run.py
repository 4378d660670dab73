"""Starts a command with the probe, waits for its end, and notes down what only the parent knows."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from loaderdoctor import __version__
from loaderdoctor.errors import ExitCode, LoaderDoctorError
from loaderdoctor.launch import directory
from loaderdoctor.launch.child import VARIABLES, environment, shell_status, started
from loaderdoctor.launch.ending import ended_by, first_batch_ns, gather_sources, main_processes, silence
from loaderdoctor.launch.parts import is_part
from loaderdoctor.privacy import masked
from loaderdoctor.probe.control import ENDED, Control
from loaderdoctor.record import RECORDED_AS_A_PART, RunMeta, write_meta
from loaderdoctor.record.run import RUNNING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from loaderdoctor.launch.command import Command
    from loaderdoctor.record import ProcessRecords

    Note = Mapping[str, str]


ONE_PART = (
    "This command is one of several of a job, and the run is kept in a folder of its own below the one that was named. "
    "`loaderdoctor report` with that folder reads all of them as one job."
)


@dataclass(frozen=True)
class Trial:
    """What makes a run a trial: what is forced on it, and where the script's own words go, which nobody reads meanwhile."""

    folder: str  # that the command runs in
    log: Path  # standard output and error of the script; its input is empty
    injected: str | None = None  # settings of one loader, as probe.injection takes them
    variables: Mapping[str, str] = field(default_factory=dict)  # of the environment


@dataclass(frozen=True)
class Options:
    """How a run is to be recorded."""

    output: str | None = None
    steps: int | None = None
    seconds: float | None = None
    trace_window: int | None = None  # steps under torch's profiler, after those of `steps` or `seconds`
    windows: tuple[float, float] | None = None  # so many seconds of each so many are recorded in detail: (each, of it)
    beside: Callable[[Path], AbstractContextManager[None]] | None = (
        None  # of the run directory: held while the script runs
    )
    trial: Trial | None = None


@dataclass(frozen=True)
class Launched:
    """A run that has ended.  `returncode` is negative for a death by signal; `fault`: why the run was not kept whole."""

    run_dir: Path
    returncode: int
    fault: LoaderDoctorError | None = None


def launch(command: Command, options: Options) -> Launched:
    """Run the command to its end.

    LoaderDoctorError `output-unusable` or `command-not-started`; whatever the command itself does is no error.
    """
    run_dir, meta = begin(command.argv, command.name, options)
    trial = options.trial
    env = _of_no_run(os.environ) | environment(
        run_dir,
        steps=options.steps,
        seconds=options.seconds,
        trace_window=options.trace_window,
        windows=options.windows,
        injected=None if trial is None else trial.injected,
    )
    notes: list[Note] = list(meta.notes)
    try:
        with (
            _surroundings(trial) as surroundings,
            started(command.argv, env | (dict(trial.variables) if trial else {}), **surroundings) as child,
        ):
            with (
                _sampled(run_dir, child.process.pid, notes),
                options.beside(run_dir) if options.beside else nullcontext(),
            ):
                facts = machine(notes)
                _keep(run_dir, replace(meta, environment=facts))
                returncode, enforced = child.wait(lambda: first_batch_ns(run_dir), options.seconds)
            interrupted = child.was_interrupted
    except LoaderDoctorError:
        directory.unmake(run_dir)
        raise
    Control.open(str(run_dir)).set_word(ENDED, 1)  # what goes on below the command is none of the run's from here on
    processes = main_processes(run_dir)
    notes += silence(processes)
    why = "seconds" if enforced else ended_by(processes, returncode, interrupted=interrupted)
    meta = replace(meta, exit_code=shell_status(returncode), ended_by=why, environment=facts, notes=tuple(notes))
    try:
        end(run_dir, meta, processes)
    except LoaderDoctorError as fault:  # the script has run, and its status must get through
        return Launched(run_dir, returncode, fault)
    return Launched(run_dir, returncode)


def _keep(run_dir: Path, meta: RunMeta) -> None:
    """Have this read of the run before it ends."""
    with suppress(OSError):  # what is lost then is told at the end
        write_meta(run_dir, meta)


@contextmanager
def _surroundings(trial: Trial | None) -> Iterator[Mapping[str, Any]]:
    """Where a trial runs and what its script reads and writes; a run that is none has this process's own."""
    if trial is None:
        yield {}
        return
    trial.log.touch(mode=0o600)
    with trial.log.open("wb") as log:
        yield {"cwd": trial.folder, "stdin": subprocess.DEVNULL, "stdout": log, "stderr": subprocess.STDOUT}


def _of_no_run(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables without those of a run that this one is started in."""
    return {name: value for name, value in variables.items() if name not in VARIABLES}


def begin(argv: Sequence[str], name: str, options: Options) -> tuple[Path, RunMeta]:
    """A run directory with what is known so far, so that the run can be read even if nobody comes to end it."""
    now = datetime.now(timezone.utc)
    run_dir, elsewhere = directory.make(options.output, name, now, is_part=is_part(argv, os.environ))
    notes: list[Note] = [{"slug": "run-kept-elsewhere", "text": elsewhere}] if elsewhere else []
    if options.output is not None and run_dir != Path(options.output).absolute():
        notes.append({"slug": RECORDED_AS_A_PART, "text": ONE_PART})
    meta = RunMeta(
        id=uuid4().hex[:8],
        tool_version=__version__,
        command=tuple(masked(word.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for word in argv)),
        working_directory=_working_directory() if options.trial is None else options.trial.folder,
        started_utc=now.isoformat(timespec="seconds"),
        started_ns=time.perf_counter_ns(),
        ended_by=RUNNING,
        options={"steps": options.steps, "seconds": options.seconds, **_windows(options), **_forced(options.trial)},
        notes=tuple(notes),
        host=platform.node(),
    )
    write_meta(run_dir, meta)
    return run_dir, meta


def _windows(options: Options) -> dict[str, float]:
    return {} if options.windows is None else dict(zip(("every_s", "for_s"), options.windows, strict=True))


def _forced(trial: Trial | None) -> dict[str, Any]:
    """What tells a trial's run from one of the script as it is written."""
    return {} if trial is None else {"injected": trial.injected, "variables": dict(trial.variables)}


def _working_directory() -> str:
    """Where the command starts; empty where that folder is deleted, in which a script can start all the same."""
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return ""


def end(run_dir: Path, meta: RunMeta, processes: Sequence[ProcessRecords]) -> None:
    """Complete the run directory.  LoaderDoctorError `run-incomplete` where that cannot be written."""
    try:
        gather_sources(run_dir, processes)
        write_meta(run_dir, replace(meta, ended_ns=time.perf_counter_ns()))
    except OSError as error:
        sentence = f"The end of the run could not be written into {run_dir}: {error.strerror}."
        raise LoaderDoctorError("run-incomplete", sentence, ExitCode.NO_REPORT) from None


@contextmanager
def _sampled(run_dir: Path, pid: int, notes: list[Note]) -> Iterator[None]:
    """Sample from outside meanwhile; where that fails the run goes on."""
    sampling = None
    try:
        from loaderdoctor import sample

        sampling = sample.start(run_dir, pid)
    except Exception as error:  # noqa: BLE001 - samples are worth less than the run
        notes.append(_failed(error))
    yield
    if sampling is None:
        return
    try:
        sampling.stop()
        notes += [{"slug": slug, "text": text} for slug, text in sampling.notes]
    except Exception as error:  # noqa: BLE001 - as above
        notes.append(_failed(error))


def machine(notes: list[Note]) -> dict[str, Any]:
    """What this machine is and allows; empty, and a note, where that cannot be asked."""
    try:
        from loaderdoctor.sample import limits

        return limits.environment()
    except Exception as error:  # noqa: BLE001 - as for samples
        notes.append(_failed(error))
        return {}


def _failed(error: Exception) -> Note:
    return {"slug": "sampler-failed", "text": f"Nothing was sampled from outside: {type(error).__name__}: {error}"}
