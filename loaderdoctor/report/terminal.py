"""The lines on standard error that end a run, eight at most: verdict, how it ended, gain, fix, certainty, files, next command."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from loaderdoctor.report.advice import PATCH_FILE
from loaderdoctor.report.parts import Parts
from loaderdoctor.report.visible import visible_line
from loaderdoctor.report.words import Words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from loaderdoctor.report import Written
    from loaderdoctor.report.model import ReportView

PREFIX = "loaderdoctor:"
NARROW = 60  # columns; below, the prefix on each line would take a quarter of them
_STYLES = {"starving": "bold red", "healthy": "bold green"}


def summary(written: Written) -> None:
    """Print to standard error; in colour on a terminal, unless NO_COLOR is set."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    style = _STYLES.get(written.seen.status, "bold")
    is_narrow = console.is_terminal and console.width < NARROW
    for index, line in enumerate(lines(written)):
        prefix = () if is_narrow and index else ((PREFIX, "dim"), " ")
        console.print(Text.assemble(*prefix, (line, "" if index else style)), soft_wrap=True)


def lines(written: Written) -> Iterator[str]:
    """The lines without their prefix, each on one line and as one sees it, whatever a run holds."""
    seen = written.seen
    words = Words(seen.lang)
    parts = Parts(words)
    said = seen.summary
    makers: Mapping[str, Callable[[], str]] = {
        "headline": lambda: seen.headline,
        "ended": lambda: seen.ended,
        "gain": lambda: words("terminal.gain", text=said.gain) if said.gain else words("terminal.no-gain"),
        "fix": lambda: words("terminal.fix", text=said.fix) if said.fix else "",
        "sure": lambda: words("terminal.sure", text=said.sure) if said.sure else "",
        "notes": lambda: " ".join(text for _, text in written.notes),
        "files": lambda: words("terminal.files", text=_files(written.files)) if written.files else "",
        "next": lambda: words("terminal.next", text=_next(seen, written)),
    }
    for name, make in makers.items():
        made = parts.made(name, make, None)
        yield from map(visible_line, filter(None, [parts.sentence() if made is None else made]))


def _next(seen: ReportView, written: Written) -> str:
    """What proves the prescription; else the patch, where it is the first finding's own."""
    if seen.summary.to_treat:
        return f"loaderdoctor treat {shlex.quote(as_typed(Path(seen.summary.to_treat)))}"
    patch = next((path for path in written.files if path.name == PATCH_FILE), None)
    return f"git apply {shlex.quote(as_typed(patch))}" if patch is not None and seen.fix.diff else seen.summary.next


def _files(files: Sequence[Path]) -> str:
    """The first with its folder, the others by their names."""
    return ", ".join([as_typed(files[0]), *(path.name for path in files[1:])])


def as_typed(path: Path) -> str:
    """A path as one would type it here."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except (ValueError, FileNotFoundError):  # elsewhere; or the working directory is deleted
        return str(path)
