"""What happens beside a script while it runs: a report that is there before the end, and a line on the terminal.

A thread of the parent looks at the run now and then.  It never holds up the thread that waits for the script: reports are made
by a process of their own, which is ended with the script.
"""

from __future__ import annotations

from loaderdoctor.live.beside import Beside
from loaderdoctor.live.pace import Pace

__all__ = ["Beside", "Pace"]
