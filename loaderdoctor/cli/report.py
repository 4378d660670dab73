"""`loaderdoctor report`: render a recorded run again, on any machine; several parts are one job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from loaderdoctor.cli import options
from loaderdoctor.cli.reporting import report_on
from loaderdoctor.errors import LoaderDoctorError

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Default: the run directory; of several, the folder that holds them.",
)
@click.option("--format", "formats", default="html,pdf,json", show_default=True, help="Any of html,pdf,json,md.")
@click.option("--name-hosts", is_flag=True, help="Call hosts by their names; otherwise they are host-1, host-2, ...")
@options.language
def report(*, runs: Sequence[Path], output: Path | None, formats: str, name_hosts: bool, lang: str) -> None:
    """Render the reports of RUN, a run directory, again.

    Several are read as the parts of one job, whatever machines recorded them; so is the folder that `profile -o` put them into.
    """
    chosen = list(filter(None, map(str.strip, formats.split(","))))
    report_on(runs, output or _folder_of(runs), chosen, lang, names_hosts=name_hosts)


def _folder_of(runs: Sequence[Path]) -> Path:
    """The run directory, or the folder of all of them.  LoaderDoctorError `output-needed`."""
    if len(runs) == 1:
        return runs[0]
    folders = {run.absolute().parent for run in runs}
    if len(folders) > 1:
        raise LoaderDoctorError(
            "output-needed", "The parts lie in several folders: say with `-o DIR` where the report goes."
        )
    return folders.pop()
