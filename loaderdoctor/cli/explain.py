"""`loaderdoctor explain`: the page of one cause, or the list."""

from __future__ import annotations

import difflib
import io
import sys

import click

from loaderdoctor.errors import LoaderDoctorError

WIDEST = 24  # of the ids, so that the tables of all subsystems line up


@click.command()
@click.argument("cause", required=False)
def explain(cause: str | None) -> None:
    """Explain CAUSE, or list all causes that loaderdoctor knows."""
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.table import Table

    from loaderdoctor import causes

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # bullets and dashes, where a terminal has ASCII alone
    console = Console()
    if cause is not None:
        console.print(Markdown(_page(cause)))
        return
    for title, ids in causes.by_subsystem().items():
        table = Table(title=title, title_justify="left", box=None, pad_edge=False, show_header=False)
        table.add_column("cause", no_wrap=True, min_width=WIDEST)
        table.add_column("what it says")
        for cause_id in ids:
            table.add_row(cause_id, causes.get(cause_id).title)
        console.print(table)


def _page(cause: str) -> str:
    from loaderdoctor import causes

    ids = [known.id for known in causes.CAUSES]
    if cause in ids:
        return causes.page(cause)
    close = difflib.get_close_matches(cause, ids, n=1)
    hint = f" Did you mean {close[0]}?" if close else " `loaderdoctor explain` lists them."
    raise LoaderDoctorError("unknown-cause", f"There is no cause {cause}.{hint}")
