"""Shared memory is too small for the batches on their way from the workers: the run dies of it, or stops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Gain, Interval, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, below, derived, has_workers, known
from loaderdoctor.values import Measured, Missing

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

NEEDED = Threshold(
    0.8, "times", "The batches on their way come close to all that there is; what else uses it takes the rest."
)
LEFT = Threshold(2.0, "batches", "With room for more there is no reason to die of it.")
NO_FASTER = Gain(Interval(1.0, 1.0, 1.0), "bound")  # it runs at all, which is no speed
_ADVICE = (
    "Give it more shared memory (docker run --shm-size=8g or --ipc=host; in Kubernetes an emptyDir of medium Memory at /dev/shm), or "
    "keep fewer batches on their way: a smaller prefetch_factor, fewer workers, narrower numbers."
)


def _needed(signals: Signals, loader: LoaderSignals) -> Value:
    """Batches that may be on their way at once, over the size of the file system that they lie in."""
    size, batch = signals.broken.shm_size_bytes, loader.batch_bytes
    if isinstance(size, Missing) or isinstance(batch, Missing):
        return size if isinstance(size, Missing) else batch
    if size.value <= 0:
        return Missing("no-shared-memory", "There is no shared memory file system.")
    on_their_way = loader.settings.num_workers * (loader.settings.prefetch_factor or 2) * signals.neighbours
    return Measured.exact(on_their_way * batch.value / size.value, "times")


def _left(signals: Signals, loader: LoaderSignals) -> Value:
    """How many more batches would have found room when it was fullest."""
    free, batch = signals.broken.shm_least_free_bytes, loader.batch_bytes
    if isinstance(free, Missing) or isinstance(batch, Missing):
        return free if isinstance(free, Missing) else batch
    return Measured.exact(free.value / max(1.0, batch.value), "batches")


def treat(signals: Signals, _loader: LoaderSignals) -> Treatment:
    """More of it, or less in it."""
    size = known(signals.broken.shm_size_bytes) / 2**20
    text = f"There are {size:,.0f} MiB of shared memory. {_ADVICE}"
    return Treatment(text, gain=NO_FASTER, actions=(Action("system", text, name="--shm-size", value="8g"),))


CAUSE = Cause(
    id="shm-exhausted",
    title="Shared memory is too small for the batches on their way",
    applies=(has_workers,),
    gates=(
        below(derived("broken.shm_least_free_bytes", "Batches that still found room in shared memory", _left), LEFT),
        at_least(
            derived("broken.shm_size_bytes", "Batches that may be on their way, over all shared memory", _needed),
            NEEDED,
        ),
    ),
    treat=treat,
    scope="run",
)
