"""What `profile`, `demo` and `report` do once a run is there."""

from __future__ import annotations

import sys
import traceback
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

import click

from loaderdoctor import launch
from loaderdoctor.errors import ExitCode, LoaderDoctorError
from loaderdoctor.record.job import RECORDED_AS_A_PART

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from loaderdoctor.pipeline import Diagnosed

FAULT_FILE = "loaderdoctor-fault.txt"


def say(sentence: str) -> None:
    """Tell the user; stdout is the script's."""
    from loaderdoctor.report.visible import visible_line

    click.echo(f"loaderdoctor: {visible_line(sentence)}", err=True)


def complain(error: LoaderDoctorError) -> None:
    """Tell what went wrong, and the slug under which the documentation has more."""
    say(f"{error.sentence} [{error.slug}]")


@contextmanager
def writing_into(directory: Path) -> Iterator[None]:
    """What the system refuses is the error `output-unusable`."""
    try:
        yield
    except OSError as error:
        sentence = f"{directory} cannot be written: {error.strerror}."
        raise LoaderDoctorError("output-unusable", sentence, ExitCode.NO_REPORT) from None


def report_on(
    run_dirs: Sequence[Path], directory: Path, formats: Sequence[str], lang: str, *, names_hosts: bool = False
) -> Diagnosed:
    """Diagnose a run, or the parts of one, write its reports into the directory, and sum up on stderr.

    LoaderDoctorError where there is no run to read, for formats that there are not, or `output-unusable`.
    """
    from loaderdoctor import pipeline, report
    from loaderdoctor.report import terminal

    done = pipeline.diagnose(*run_dirs, names_hosts=names_hosts)
    with writing_into(directory):
        written = report.write(done.run, done.signals, done.diagnosis, directory, formats, lang)
    terminal.summary(written)
    if any(note["slug"] == RECORDED_AS_A_PART for note in done.run.meta.notes):
        say(f"this is one part of a job; `loaderdoctor report {run_dirs[0].parent}` reads all parts as one.")
    return done


def finish(launched: launch.Launched, *, formats: Sequence[str], lang: str, fail_on: str | None = None) -> NoReturn:
    """Report on a run that has ended, and end as its script did; with another status only where `fail_on` asks for one.

    Nothing that goes wrong here reaches the script's status, and no traceback of ours its output.
    """
    if launched.fault is not None:
        complain(launched.fault)
    status = _status(launched, formats, lang, fail_on)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # whoever read it is gone
            stream.flush()
    sys.exit(launch.end_as(launched.returncode) if launched.returncode else status)


def _status(launched: launch.Launched, formats: Sequence[str], lang: str, fail_on: str | None) -> ExitCode:
    run_dir = launched.run_dir
    try:
        done = report_on([run_dir], run_dir, formats, lang)
    except LoaderDoctorError as error:
        complain(error)
    except KeyboardInterrupt:
        say(f"interrupted before the report was written; `loaderdoctor report {run_dir}` writes it.")
    except Exception:  # noqa: BLE001 - the script has run, and its status must get through
        say(f"no report could be made, by a fault of ours; please report {_keep_fault(run_dir)}")
    else:
        if fail_on is not None and done.diagnosis.status == fail_on:
            return ExitCode.FAILED_CHECK
    return ExitCode.OK


def _keep_fault(run_dir: Path) -> str:
    trace = traceback.format_exc()
    path = run_dir / FAULT_FILE
    try:
        path.touch(mode=0o600)
        path.write_text(trace, encoding="utf-8")
    except OSError:
        return trace.splitlines()[-1]
    return str(path)
