"""Each epoch waits for one worker to make its whole first batch, however many workers there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Signal, Treatment
from loaderdoctor.causes.gates import at_least, bound, has_workers, waits
from loaderdoctor.causes.order.gaps import EPOCH_GAPS, GAP_S, GAPS, MOST, gap_part, has_epochs

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

_ADVICE = (
    "Let the next epoch's first batches be made while the last ones are used: one iterator over a sampler that goes on from "
    "epoch to epoch, or the next iterator built a few steps early."
)
_EXAMPLE = "class Endless(torch.utils.data.Sampler):\n    def __iter__(self):\n        while True:\n            yield from self.sampler"


def treat(_signals: Signals, loader: LoaderSignals) -> Treatment:
    """Begin early; half of it is sure to go where the workers have anything to spare."""
    part = gap_part(loader, loader.order.gap_usual_share)
    code = Action("code", _ADVICE, site=loader.site, example=_EXAMPLE)
    return Treatment(_ADVICE, bound=bound(part, at_least=part / 2), actions=(code,))


CAUSE = Cause(
    id="first-batch-latency",
    title="Each epoch waits for one worker to make its whole first batch",
    applies=(has_workers, has_epochs),
    gates=(
        waits(),
        at_least(EPOCH_GAPS, GAPS),
        at_least(
            Signal(
                "loader.order.gap_usual_share",
                "Making the first batch, no longer than any other one takes, of such a gap",
            ),
            MOST,
        ),
    ),
    treat=treat,
    shows=(GAP_S, Signal("loader.making.first_made_s", "Making that batch, in one worker")),
    slice=EPOCH_GAPS,
)
