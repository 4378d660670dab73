"""Whether a file is still the text that ran: a line's number says nothing of a script that was edited since."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from loaderdoctor.masked_source import masked_source

if TYPE_CHECKING:
    from loaderdoctor.record import Run


def is_edited(run: Run, file: str | Path) -> bool:
    """Whether the run kept the text of `file`, relative to its folder or not, and it is another one by now."""
    folder = Path(run.meta.working_directory)
    path = folder / file
    seen = next((text for name, text in run.sources.items() if folder / name == path), None)
    try:
        return seen is not None and masked_source(path.read_bytes().decode("utf-8")) != seen
    except (OSError, ValueError):
        return True
