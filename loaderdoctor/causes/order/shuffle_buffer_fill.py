"""A stream is shuffled in a buffer that must be full before the first sample, in every pass, while the training waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import CHANGES_ORDER, Action, Cause, Change, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, has_workload, waits
from loaderdoctor.causes.order.gaps import BEFORE_FIRST_SAMPLE, EPOCH_GAPS, EXTRA, GAP_S, GAPS, has_epochs, is_stream
from loaderdoctor.predict.change import BUFFER

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

PAID_BACK = Threshold(
    0.5,
    "share",
    "What fills a buffer is read anyway, and not again; what does something else at the start pays nothing back.",
)
PAYS_BACK = Signal(
    "loader.order.paid_back_share", "Of what first batches take longer, the last ones of the same pass take less"
)
_ADVICE = (
    "Fill the buffer while it is used: start with few samples and let it grow, or shuffle the order of the shards and keep the "
    "buffer small."
)
_EXAMPLE = "kept.append(sample)\nif len(kept) >= min(size, 100 + seen // 2):  # grows while samples are handed out\n    yield kept.pop(rng.randrange(len(kept)))"


def treat(_signals: Signals, loader: LoaderSignals) -> Treatment:
    """The same work, spread over the pass."""
    code = Action("code", _ADVICE, site=loader.site, example=_EXAMPLE)
    return Treatment(_ADVICE, Change(lifts=(BUFFER,)), actions=(code,), safety=CHANGES_ORDER)


CAUSE = Cause(
    id="shuffle-buffer-fill",
    title="A shuffle buffer must fill before the first sample of each pass",
    applies=(is_stream, has_epochs, has_workload),
    gates=(waits(), at_least(EPOCH_GAPS, GAPS), EXTRA, BEFORE_FIRST_SAMPLE, at_least(PAYS_BACK, PAID_BACK)),
    treat=treat,
    shows=(GAP_S, Signal("loader.making.first_made_s", "Making the first batch of a pass")),
    slice=EPOCH_GAPS,
)
