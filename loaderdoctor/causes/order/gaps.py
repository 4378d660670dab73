"""What causes share that live in the gap from the end of an epoch to the next one's first batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import NEEDS_MEMORY, Action, Change, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, derived, known
from loaderdoctor.predict.change import REBUILT
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

GAPS = Threshold(0.03, "share", "Shorter gaps gain less than two runs of one script differ by.")
MOST = Threshold(0.5, "share", "What is less than half of a gap is not what fills it.")
EXTRA = at_least(
    Signal("loader.order.gap_extra_share", "Making an epoch's first batch beyond what another one takes, of the gap"),
    MOST,
)
BEFORE_FIRST_SAMPLE = at_least(
    Signal("loader.order.before_first_share", "Making such a batch is spent before its first sample is there"), MOST
)
EPOCH_GAPS = Signal("loader.epoch_gap_share", "Gaps from the end of an epoch to the next one's first batch")
GAP_S = Signal("loader.first_batch_gap_s", "From the end of an epoch to the next one's first batch")
LEAST_EPOCHS = 2
BATCHES_AN_ITERATOR = 2  # or fewer: the iterator is built for the batch, not for a pass

_KEEP = "Keep the workers over the epochs with persistent_workers=True: they start once."
_BUILD_ONCE = (
    "Build the loader once, before the loop over the epochs, with persistent_workers=True; give what changes between epochs "
    "to its sampler or data set. The setting alone does nothing for a loader that is built anew."
)
_KEEP_ITERATOR = (
    "An iterator is built and thrown away for each batch, with the batches that its workers had made ahead: keep one iterator, and "
    "build the next one when it ends."
)
_ONE_ITERATOR = "def endless(loader):\n    while True:\n        yield from loader\n\nbatches = endless(loader)  # once; then next(batches)"
_EXAMPLE = "loader = DataLoader(..., persistent_workers=True)  # once\nfor epoch in range(epochs):\n    for batch in loader:\n        ..."


def has_epochs(_signals: Signals, loader: LoaderSignals) -> str | None:
    """One first batch is a start-up, not a rate."""
    return None if loader.epochs >= LEAST_EPOCHS else "The loader was iterated only once."


def starts_anew(_signals: Signals, loader: LoaderSignals) -> str | None:
    """Workers that stay start once."""
    if loader.settings.persistent_workers and not loader.order.rebuilt:
        return "The workers are kept over the epochs already."
    return None


def is_stream(_signals: Signals, loader: LoaderSignals) -> str | None:
    """For causes of data sets that decide by themselves what comes next."""
    return None if loader.settings.dataset_kind == "iterable" else "The data set is not a stream."


def started(_signals: Signals, loader: LoaderSignals) -> Value:
    """What of a gap new workers cost: their starts, and what each does at its first sample that it does at no other.

    A stream may do the latter in each pass, whoever makes it, so of streams only the starts are sure.
    """
    start, extra = loader.order.gap_start_share, loader.order.gap_extra_share
    if not isinstance(start, Measured) or not isinstance(extra, Measured) or loader.settings.dataset_kind != "map":
        return start
    low, best, high = (
        min(1.0, one + more)
        for one, more in ((start.low, extra.low), (start.value, extra.value), (start.high, extra.high))
    )
    return Measured(best, low, high, start.n, start.unit)


STARTED = derived("loader.order.gap_start_share", "Ending old workers and starting new ones, of such a gap", started)


def _kept_iterator(loader: LoaderSignals) -> tuple[Action, ...]:
    """What a setting does not do where an iterator serves for a batch: the batches that it had ready are thrown away too."""
    if loader.batches > BATCHES_AN_ITERATOR * loader.epochs:
        return ()
    return (Action("code", _KEEP_ITERATOR, site=loader.site, example=_ONE_ITERATOR),)


def keep_workers(_signals: Signals, loader: LoaderSignals) -> Treatment:
    """Workers that stay; where the loader itself is built anew, a loader that stays."""
    if not loader.order.rebuilt:
        kept = Change({"persistent_workers": True})
        return Treatment(_KEEP, kept, actions=_kept_iterator(loader), safety=NEEDS_MEMORY)
    code = Action("code", _BUILD_ONCE, site=loader.site, example=_EXAMPLE)
    return Treatment(_BUILD_ONCE, Change(lifts=(REBUILT,)), actions=(code,), safety=NEEDS_MEMORY)


def gap_part(loader: LoaderSignals, part: Value) -> float:
    """Share of the whole time of a part of the gaps."""
    return known(loader.epoch_gap_share) * known(part)
