"""A line of ours on the terminal that the script writes to as well.

Nobody but the terminal knows where its cursor stands, and asking it would take the answer out of the script's input.  So a line
is whole and stays, and begins as shells draw a prompt after output without a line break: as many blanks as the terminal is
wide leave the cursor on a fresh line if anything stood on this one, and on this one if not.  There is nothing to erase and no
colour, and a progress bar goes on below.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

PREFIX = "loaderdoctor: "
LEAST_WIDTH = 20  # columns; on fewer, nothing that is worth a line fits
MOST_WIDTH = 200  # a line as long as a screen of some terminals is wide is read by nobody


class Terminal:
    """Standard error where it is a terminal, and this process in its foreground; quiet elsewhere."""

    def __init__(self, descriptor: int | None = None) -> None:
        self._descriptor = _standard_error() if descriptor is None else descriptor

    @property
    def width(self) -> int:
        """Columns of a line without our name; 0 where nobody is to be told."""
        try:
            if not os.isatty(self._descriptor) or os.tcgetpgrp(self._descriptor) != os.getpgrp():
                return 0
            columns = os.get_terminal_size(self._descriptor).columns or 80
        except (OSError, AttributeError):
            return 0
        return 0 if columns < LEAST_WIDTH else min(columns, MOST_WIDTH) - 1 - len(PREFIX)

    def say(self, line: str) -> None:
        """Write the line, all at once, so that nothing of the script's comes in between."""
        with suppress(OSError):
            columns = os.get_terminal_size(self._descriptor).columns or 80
            os.write(self._descriptor, f"{' ' * columns}\r{PREFIX}{line}\n".encode(errors="replace"))


def _standard_error() -> int:
    try:
        return sys.stderr.fileno()
    except (OSError, ValueError, AttributeError):
        return -1
