"""Workers were forked while another thread of the training held a lock: they wait for it for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Change, Gain, Interval, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, has_workers

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

STALLED = Threshold(
    30.0, "s", "A worker that only starts slowly has begun by then; the longest imports take half of it."
)
SILENT = Threshold(1.0, "workers", "Where every worker has made a batch, none has been stuck since it began.")
ASLEEP = Threshold(0.95, "share", "A worker that runs, or reads from a disk or network, is slow and not stuck.")
THREADS = Threshold(2.0, "threads", "A process of one thread has nobody who could hold a lock while it forks.")
NO_FASTER = Gain(Interval(1.0, 1.0, 1.0), "bound")  # it runs at all, which is no speed
_ADVICE = (
    "Start the workers by forkserver or spawn, or build and start the loaders before any thread (of another loader, a logger, a "
    "client library) is running. A timeout of the loader turns such a stop into an error."
)


def is_forked(_signals: Signals, loader: LoaderSignals) -> str | None:
    """What is spawned inherits no lock."""
    method = loader.settings.start_method
    return None if method in {"fork", None} else f"Workers are started by {method}, which copies no locks."


def treat(_signals: Signals, loader: LoaderSignals) -> Treatment:
    """A start that copies no thread's locks."""
    code = Action("code", _ADVICE, name="multiprocessing_context", value="forkserver", site=loader.site)
    return Treatment(_ADVICE, Change({"multiprocessing_context": "forkserver"}), gain=NO_FASTER, actions=(code,))


CAUSE = Cause(
    id="fork-deadlock",
    title="Workers hang on locks that were held when they were forked",
    applies=(has_workers, is_forked),
    gates=(
        at_least(
            Signal("broken.stalled_s", "Nothing happened in the training before it was ended from outside"), STALLED
        ),
        at_least(Signal("broken.silent_workers", "Workers that lived at the end and never made a batch"), SILENT),
        at_least(Signal("broken.silent_waits_share", "Those were asleep or in a lock, of the looks at them"), ASLEEP),
        at_least(
            Signal("broken.parent_threads", "Threads of the training process when it forked its last workers"), THREADS
        ),
    ),
    treat=treat,
    scope="run",
)
