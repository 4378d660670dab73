"""`loaderdoctor report`: render a recorded run again, on any machine."""

from __future__ import annotations

from pathlib import Path

import click

from loaderdoctor.cli import options
from loaderdoctor.cli.reporting import report_on


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("-o", "--output", metavar="DIR", type=click.Path(path_type=Path), help="Default: the run directory.")
@click.option("--format", "formats", default="html,pdf,json", show_default=True, help="Any of html,pdf,json,md.")
@options.language
def report(*, run: Path, output: Path | None, formats: str, lang: str) -> None:
    """Render the reports of RUN, a run directory, again."""
    report_on(run, output or run, list(filter(None, map(str.strip, formats.split(",")))), lang)
