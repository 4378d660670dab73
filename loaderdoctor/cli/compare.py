"""`loaderdoctor compare`: before and after."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from loaderdoctor.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command()
@click.argument("before", metavar="RUN_A", type=click.Path(path_type=Path))
@click.argument("after", metavar="RUN_B", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "md", "json"]),
    default="text",
    show_default=True,
    help="How standard output is written.",
)
@click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(["slower", "not-comparable"]),
    help="Exit with status 1 on this verdict; may be given twice.",
)
def compare(*, before: Path, after: Path, format_: str, fail_on: Sequence[str]) -> None:
    """Say whether RUN_B is faster than RUN_A, two run directories, and what changed between them.

    A ratio is given only where both did the same work on the same machine; else it is said what is not the same.
    """
    from loaderdoctor import compare as comparing
    from loaderdoctor import pipeline
    from loaderdoctor.compare import shown

    compared = comparing.compare(pipeline.diagnose(before), pipeline.diagnose(after))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # the sign for times, where a terminal has ASCII alone
    click.echo(shown.render(compared, format_), nl=False)
    if compared.verdict in fail_on:
        sys.exit(ExitCode.FAILED_CHECK)
