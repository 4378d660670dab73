"""Workers read through a handle that was opened before they were forked, and share its position in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Threshold, Treatment
from loaderdoctor.causes.environment.cow_memory_growth import forks
from loaderdoctor.causes.gates import at_least, bound, derived, has_workers, known, waits
from loaderdoctor.values import Missing

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

SHARED = Threshold(1.0, "handles", "One handle that several processes move is enough for wrong data.")
NOT_RECORDED = Missing(
    "handles-not-recorded",
    "Which open files workers share with their parent is not recorded; a run with num_workers=0 that reads the same data "
    "without errors would tell.",
)
_EXAMPLE = """\
def __getitem__(self, index):
    if self.handle is None:   # opened in the worker itself
        self.handle = h5py.File(self.path)"""


def _shared(_signals: Signals, _loader: LoaderSignals) -> Value:
    return NOT_RECORDED


def treat(_signals: Signals, loader: LoaderSignals) -> Treatment:
    """A handle for each worker."""
    return Treatment(
        "Open the file in the worker, at its first sample, and drop the handle in __getstate__.",
        bound=bound(known(loader.exposed_wait_share)),
        actions=(Action("code", "Open lazily, once in each worker", site=loader.reads.reading_site, example=_EXAMPLE),),
    )


CAUSE = Cause(
    id="fork-shared-handle",
    title="Workers share a file handle that was opened before they started",
    applies=(has_workers, forks),
    gates=(waits(), at_least(derived("loader.reads", "Handles that workers share", _shared), SHARED)),
    treat=treat,
)
