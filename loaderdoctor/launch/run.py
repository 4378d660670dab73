"""Starts a command with the probe, waits for its end, and notes down what only the parent knows."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from loaderdoctor import __version__
from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.launch import directory
from loaderdoctor.launch.child import Child, environment, shell_status
from loaderdoctor.launch.ending import ended_by, first_batch_ns, gather_sources, silent_processes
from loaderdoctor.record import RunMeta, write_meta

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loaderdoctor.launch.command import Command


@dataclass(frozen=True)
class Options:
    """How a run is to be recorded."""

    output: str | None = None
    steps: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Launched:
    """A run that has ended.  `returncode` is negative for a death by signal."""

    run_dir: Path
    returncode: int


def launch(command: Command, options: Options) -> Launched:
    """Run the command to its end.

    LoaderDoctorError `output-unusable` or `command-not-started`; whatever the command itself does is no error.
    """
    started = datetime.now(timezone.utc)
    run_dir, elsewhere = directory.make(options.output, command.name, started)
    meta = RunMeta(
        id=uuid4().hex[:8],
        tool_version=__version__,
        command=command.argv,
        working_directory=str(Path.cwd()),
        started_utc=started.isoformat(timespec="seconds"),
        started_ns=time.perf_counter_ns(),
        options={"steps": options.steps, "seconds": options.seconds},
        notes=({"slug": "run-kept-elsewhere", "text": elsewhere},) if elsewhere else (),
    )
    write_meta(run_dir, meta)
    try:
        child = Child(command.argv, environment(run_dir, steps=options.steps, seconds=options.seconds))
    except OSError as error:
        sentence = f"{command.argv[0]} cannot be started: {error.strerror}."
        raise LoaderDoctorError("command-not-started", sentence) from None
    notes: list[Mapping[str, str]] = list(meta.notes)
    with ExitStack() as stack:
        facts = _watch(stack, run_dir, child.pid, notes)
        returncode, enforced = child.wait(lambda: first_batch_ns(run_dir), options.seconds)
    ended = replace(
        meta,
        ended_ns=time.perf_counter_ns(),
        exit_code=shell_status(returncode),
        ended_by="seconds" if enforced else ended_by(run_dir, returncode, interrupted=child.was_interrupted),
        environment=facts,
        notes=(*notes, *silent_processes(run_dir)),
    )
    gather_sources(run_dir)
    write_meta(run_dir, ended)
    return Launched(run_dir, returncode)


def _watch(stack: ExitStack, run_dir: Path, pid: int, notes: list[Mapping[str, str]]) -> dict[str, Any]:
    """Start the samplers, to be stopped by the stack, and ask what this machine is; without either the run goes on."""
    try:
        from loaderdoctor import sample
        from loaderdoctor.sample import limits

        sampling = sample.start(run_dir, pid)
        stack.callback(sampling.stop)
        return dict(json.loads(json.dumps(limits.environment(), default=str)))
    except Exception as error:  # noqa: BLE001 - samples are worth less than the run
        notes.append({"slug": "sampler-failed", "text": f"Nothing was sampled from outside: {error!r}."})
        return {}
