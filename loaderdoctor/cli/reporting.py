"""What `profile`, `demo` and `report` do once a run is there."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

import click

from loaderdoctor.errors import ExitCode, LoaderDoctorError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

CRASH_FILE = "loaderdoctor-error.txt"


def finish(run_dir: Path, *, formats: Sequence[str], lang: str, fail_on: str | None = None) -> ExitCode | None:
    """Diagnose, write the reports and say so; a status only where `fail_on` asks for one, else the script's counts.

    A fault of ours never reaches the script's output as a traceback, nor its status: it goes into a file of the run.
    """
    try:
        return _finish(run_dir, formats, lang, fail_on)
    except LoaderDoctorError as error:
        click.echo(f"loaderdoctor: {error.sentence} [{error.slug}]", err=True)
    except Exception:  # noqa: BLE001 - the script has run; its status must still get through
        path = run_dir / CRASH_FILE
        path.write_text(traceback.format_exc(), encoding="utf-8")
        click.echo(f"loaderdoctor: no report could be made, by a fault of ours; please report {path}", err=True)
    return None


def _finish(run_dir: Path, formats: Sequence[str], lang: str, fail_on: str | None) -> ExitCode | None:
    from loaderdoctor import pipeline, report
    from loaderdoctor.report import terminal

    done = pipeline.diagnose(run_dir)
    written = report.write(done.run, done.signals, done.diagnosis, run_dir, formats, lang)
    terminal.summary(done.run, done.signals, done.diagnosis, written)
    return ExitCode.FAILED_CHECK if fail_on is not None and done.diagnosis.status == fail_on else None
