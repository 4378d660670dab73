"""The exchange of gradients between ranks takes the time; the loaders keep up."""

from __future__ import annotations

from loaderdoctor.causes.base import Cause, Signal, Threshold
from loaderdoctor.causes.gates import at_least
from loaderdoctor.causes.not_the_loader.fed import FED
from loaderdoctor.causes.not_the_loader.ranks import has_ranks

EXCHANGING = Threshold(0.5, "share", "Where computing takes most of a step, a faster exchange does not change it much.")

CAUSE = Cause(
    id="comm-bound",
    title="The exchange of gradients between ranks takes the time; the data keeps up",
    applies=(has_ranks,),
    gates=(FED, at_least(Signal("job.exchange_share", "Exchanging gradients, of a step"), EXCHANGING)),
    slice=Signal("job.exchange_share", "Exchanging gradients, of a step"),
    scope="run",
    is_limit=True,
)
