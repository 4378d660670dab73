"""The ranks of a job beside each other: how long each waits for its own loader."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from loaderdoctor.report import figures
from loaderdoctor.report.model import Column, Mark, Picture, Table
from loaderdoctor.report.sheet import LEFT, WIDTH, Bar, bars, place, text

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import Signals
    from loaderdoctor.report.words import Words

MOST_DRAWN = 25
ROW, BAR = 15.0, 10.0
RIGHT = WIDTH - 130  # room behind a bar for what is said of it


def beside(signals: Signals, words: Words) -> Picture | None:
    """A bar a rank; None of a job of one."""
    shares = [share if math.isfinite(share) else 0.0 for share in signals.rank_shares]
    if len(shares) < 2:  # noqa: PLR2004 - one rank is beside nobody
        return None
    found: list[Bar] = []
    marks: list[Mark] = []
    for rank, share in enumerate(shares[:MOST_DRAWN]):
        y = rank * ROW
        end = place(share, 0.0, max(*shares, 1e-9), LEFT, RIGHT)
        found.append((LEFT, y, max(0.5, end - LEFT), BAR))
        last = f" · {words('ranks.last')}" if rank == signals.job.last_rank else ""
        marks += [
            text(LEFT - 6, y + BAR - 1, words("ranks.rank", n=rank), anchor="end"),
            text(end + 4, y + BAR - 1, f"{figures.share(share)}{last}"),
        ]
    said = words("ranks.sentence", low=figures.share(min(shares)), high=figures.share(max(shares)))
    rows = tuple((words("ranks.rank", n=rank), figures.share(share)) for rank, share in enumerate(shares[:MOST_DRAWN]))
    left_out = len(shares) - MOST_DRAWN
    return Picture(
        title=words("ranks.title"),
        sentence=said,
        width=WIDTH,
        height=min(len(shares), MOST_DRAWN) * ROW + 2,
        marks=(*bars("wait", found), *marks),
        caption=said,
        data=Table(
            words("ranks.title"),
            (Column(words("column.rank")), Column(words("column.waiting"), True)),
            rows,
            words("table.more", n=left_out) if left_out > 0 else "",
        ),
    )
