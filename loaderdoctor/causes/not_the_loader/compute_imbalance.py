"""Ranks get unequal work: those with less wait for those with more, and the loaders keep up."""

from __future__ import annotations

from loaderdoctor.causes.base import Cause, Signal, Threshold
from loaderdoctor.causes.gates import at_least
from loaderdoctor.causes.not_the_loader.fed import FED
from loaderdoctor.causes.not_the_loader.ranks import has_ranks

UNEQUAL = Threshold(1.5, "times", "Equal ranks differ by their place on the machine, by some tenths at most.")

CAUSE = Cause(
    id="compute-imbalance",
    title="Some ranks get more work than others, which wait for them; the data keeps up",
    applies=(has_ranks,),
    gates=(
        FED,
        at_least(
            Signal("job.compute_spread", "Computing of the busiest rank, over that of the least busy one"), UNEQUAL
        ),
    ),
    slice=Signal("steps.compute_share", "Computing, of a step"),
    scope="run",
    is_limit=True,
)
