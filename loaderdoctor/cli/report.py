"""`loaderdoctor report`: render a recorded run again, on any machine."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from loaderdoctor.errors import LoaderDoctorError

FORMATS = ("html", "pdf", "json", "md")


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("-o", "--output", metavar="DIR", type=click.Path(path_type=Path), help="Default: the run directory.")
@click.option("--format", "formats", default="html,pdf,json", show_default=True, help=f"Any of {','.join(FORMATS)}.")
@click.option("--lang", type=click.Choice(["en", "zh"]), default="en", help="Language of the report.")
def report(run: Path, output: Path | None, formats: str, lang: str) -> None:
    """Render the reports of RUN, a run directory, again."""
    from loaderdoctor import pipeline
    from loaderdoctor import report as reports
    from loaderdoctor.report import terminal

    wanted = [name.strip() for name in formats.split(",") if name.strip()]
    if unknown := sorted(set(wanted) - set(FORMATS)):
        sentence = f"There is no format {', '.join(unknown)}: choose among {', '.join(FORMATS)}."
        raise LoaderDoctorError("unknown-format", sentence)
    done = pipeline.diagnose(run)
    directory = output or run
    try:
        directory.mkdir(parents=True, exist_ok=True)
        written = reports.write(done.run, done.signals, done.diagnosis, directory, wanted, lang)
    except OSError as error:
        raise LoaderDoctorError("output-unusable", f"{directory} cannot be written: {error.strerror}.") from None
    terminal.summary(done.run, done.signals, done.diagnosis, written)
    sys.exit(0)
