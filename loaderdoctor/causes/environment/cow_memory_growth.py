"""Forked workers turn the dataset's Python objects into copies of their own by looking at them, until memory is short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Signal, Threshold, Treatment
from loaderdoctor.causes.environment.memory_pressure import PRESSURE, SHORT
from loaderdoctor.causes.gates import at_least, bound, derived, has_workers, known, waits
from loaderdoctor.values import Measured, Missing

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

MUCH = Threshold(0.1, "share", "Of the memory that the job may use; less is not what makes it short.")
NOT_SEEN = Missing("private-not-measured", "The private memory of no worker was looked at often enough.")
_EXAMPLE = """\
names = np.array(names)                      # one block instead of a million objects
blob = torch.frombuffer(bytearray(pickle.dumps(rows)), dtype=torch.uint8)"""


def forks(_signals: Signals, loader: LoaderSignals) -> str | None:
    """Only a fork shares pages that can become private."""
    method = loader.settings.start_method
    return (
        None if method in {None, "fork"} else f"Workers are started by {method}: they share no pages with their parent."
    )


def _grown(signals: Signals, loader: LoaderSignals) -> Value:
    """What all workers together came to hold alone, over the memory that there is."""
    limit = signals.machine.memory_limit_bytes
    grown = [one.private_growth_bytes.value for one in loader.workers if isinstance(one.private_growth_bytes, Measured)]
    if not grown:
        return NOT_SEEN
    if not isinstance(limit, Measured) or limit.value <= 0:
        return limit
    least, mean, most = min(grown), sum(grown) / len(grown), max(grown)
    low, best, high = (max(0.0, one * len(loader.workers) / limit.value) for one in (least, mean, most))
    return Measured(best, low, high, len(grown), "share")


def treat(signals: Signals, loader: LoaderSignals) -> Treatment:
    """Data that has no reference counts."""
    return Treatment(
        "Keep what the dataset holds (paths, labels, rows) in arrays or tensors, or in one packed buffer, instead of lists and "
        "dicts of Python objects: to look at an object writes its reference count, which copies its page.",
        bound=bound(min(known(loader.exposed_wait_share), known(signals.machine.memory_pressure_share))),
        actions=(
            Action("code", "Pack the dataset's lists before the loader is built", site=loader.site, example=_EXAMPLE),
        ),
    )


CAUSE = Cause(
    id="cow-memory-growth",
    title="Each worker slowly copies the dataset's Python objects",
    applies=(has_workers, forks),
    gates=(
        waits(),
        at_least(PRESSURE, SHORT),
        at_least(derived("loader.workers", "Memory that workers came to hold alone, of what there is", _grown), MUCH),
    ),
    treat=treat,
    shows=(
        Signal("machine.memory_available_bytes", "Memory that was left"),
        Signal("machine.memory_limit_bytes", "Memory that the job may use"),
    ),
    explains=("memory-pressure",),
)
