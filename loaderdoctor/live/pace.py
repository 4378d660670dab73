"""When the terminal gets its next line, and when the report is made anew."""

from __future__ import annotations

from dataclasses import dataclass

# A script's own output and its progress bars have the terminal, so a line comes rarely and stays: soon enough to see that all
# is well, then ever more seldom.
LINES_S = (10.0, 60.0, 300.0, 900.0, 3600.0)  # after the first batch; from then on every hour


@dataclass(frozen=True)
class Pace:
    """How much of the machine a report before the end may take."""

    share: float = 0.01  # of one CPU: less than two runs of one script differ by
    first_s: float = (
        240.0  # after the first batch: what the first report takes, some 2 s of CPU time, is that share of it
    )
    least_s: float = 60.0  # between two reports: nobody reads them faster
    steps: int = 25  # before the first one: a verdict takes about 20 steps after three that warm up
    poll_s: float = 1.0  # coarse against all of these

    def again_s(self, spent_s: float) -> float:
        """Seconds until the next report, after one that took so much CPU time."""
        return max(self.least_s, spent_s / self.share)


def next_line_s(elapsed_s: float) -> float:
    """When the next line is due, that long after the first batch."""
    last = LINES_S[-1]
    return next((line_s for line_s in LINES_S if line_s > elapsed_s), (elapsed_s // last + 1) * last)
