"""`loaderdoctor report`: render a recorded run again, on any machine."""

from __future__ import annotations

from pathlib import Path

import click

from loaderdoctor.cli import options
from loaderdoctor.cli.reporting import report_on
from loaderdoctor.errors import LoaderDoctorError


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("-o", "--output", metavar="DIR", type=click.Path(path_type=Path), help="Default: the run directory.")
@click.option(
    "--format", "wanted", default="html,pdf,json", show_default=True, help=f"Any of {','.join(options.FORMATS)}."
)
@options.language
def report(*, run: Path, output: Path | None, wanted: str, lang: str) -> None:
    """Render the reports of RUN, a run directory, again."""
    formats = list(dict.fromkeys(filter(None, map(str.strip, wanted.split(",")))))
    unknown = [name for name in formats if name not in options.FORMATS]
    if unknown or not formats:
        sentence = f"There is no format {', '.join(unknown) or wanted!r}: choose among {', '.join(options.FORMATS)}."
        raise LoaderDoctorError("unknown-format", sentence)
    report_on(run, output or run, formats, lang)
