"""Python's garbage collector walks all objects of the process again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Change, Interval, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, derived, known
from loaderdoctor.predict import part_scaled
from loaderdoctor.values import Measured, Missing

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

NOT_ITS = Missing("not-its", "The pauses of the loop are told of the loader that it trains from.")
FELT = Threshold(0.05, "share", "Below, no pause is worth changing, and two runs of one script differ as much.")
LEFT = Interval(0.0, 0.05, 0.3)  # frozen objects are walked no more; what is made later still is
ADVICE = (
    "Call gc.freeze() when the data is loaded and the model built, so that their objects are walked no more, and leave out "
    "gc.collect() in the loop and in the dataset. Keep what is many in arrays instead of lists and dicts."
)
EXAMPLE = """\
# once, when all is set up, before the loader is iterated:
gc.collect()
gc.freeze()"""


def _pauses(signals: Signals, loader: LoaderSignals) -> Value:
    """In making batches, as far as that is waited for, and in the loop itself."""
    making, loop = loader.making.collected_share, _in_loop(signals, loader)
    parts = [(part, weight) for part, weight in ((making, known(loader.exposed_wait_share)), (loop, 1.0))]
    measured = [(part, weight) for part, weight in parts if isinstance(part, Measured)]
    if not measured:
        return making
    low, best, high = (
        min(1.0, sum(getattr(part, end) * weight for part, weight in measured)) for end in ("low", "value", "high")
    )
    return Measured(best, low, high, measured[0][0].n, "share")


def _in_loop(signals: Signals, loader: LoaderSignals) -> Value:
    """The loop's pauses are told once, of the loader that it trains from."""
    main = signals.main
    return signals.loop.collected_share if main is not None and main.id == loader.id else NOT_ITS


PAUSES = derived("loader.making.collected_share", "Full collections of garbage, of the time", _pauses)


def treat(signals: Signals, loader: LoaderSignals) -> Treatment:
    """Objects that stay are not walked; the place is that of the hottest code where batches are what is held up."""
    making, loop = known(loader.making.collected_share), known(_in_loop(signals, loader))
    own = max(1e-9, 1 - known(loader.exposed_wait_share))
    work = {
        "cpu_s": part_scaled(1.0, making, LEFT),
        "compute_s": part_scaled(own, loop, LEFT),
    }
    place = loader.code.place() if making >= FELT.value else None
    action = Action("code", "Freeze what stays.", site=place.site if place else None, example=EXAMPLE)
    return Treatment(ADVICE, Change(work=work), actions=(action,))


CAUSE = Cause(
    id="gc-pause",
    title="Python's garbage collection stops the training",
    gates=(at_least(PAUSES, FELT),),
    treat=treat,
    slice=PAUSES,
    explains=("cpu-augment", "python-overhead", "slow-collate", "tokenize-on-the-fly"),
)
