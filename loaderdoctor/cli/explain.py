"""`loaderdoctor explain`: the page of one cause, or the list."""

from __future__ import annotations

import difflib
import io
import sys

import click

from loaderdoctor.errors import LoaderDoctorError


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
    table = Table(box=None, pad_edge=False)
    table.add_column("cause", no_wrap=True)
    table.add_column("what it says")
    for known in causes.CAUSES:
        table.add_row(known.id, known.title)
    console.print(table)


def _page(cause: str) -> str:
    from loaderdoctor import causes

    ids = [known.id for known in causes.CAUSES]
    if cause in ids:
        return causes.page(cause)
    close = difflib.get_close_matches(cause, ids, n=1)
    hint = f" Did you mean {close[0]}?" if close else " `loaderdoctor explain` lists them."
    raise LoaderDoctorError("unknown-cause", f"There is no cause {cause}.{hint}")
