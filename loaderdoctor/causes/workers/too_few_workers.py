"""Every worker is busy all the time, and the machine could run more of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor import predict
from loaderdoctor.causes.base import (
    CHANGES_RESULTS,
    NEEDS_MEMORY,
    Cause,
    Change,
    Evidence,
    Signal,
    Threshold,
    Treatment,
)
from loaderdoctor.causes.engine import is_worth, predicted, simulated
from loaderdoctor.causes.gates import (
    BUSY_WORKERS,
    WAITING,
    WORKERS_BUSY,
    WORTH,
    at_least,
    below,
    derived,
    has_workers,
    has_workload,
    is_torchs,
    waits,
)
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals, Workload
    from loaderdoctor.values import Value

CONTENDED = Threshold(
    0.25, "share", "Batches that wait this much for a core show that processes are too many already, not too few."
)
UNSHARDED = "The dataset is an IterableDataset: more workers need as many shards, split by get_worker_info()."


def _waits_within_epochs(_signals: Signals, loader: LoaderSignals) -> Value:
    """What is left without the gaps between epochs, which more workers do not shorten."""
    wait, gaps = loader.exposed_wait_share, loader.epoch_gap_share
    if not isinstance(wait, Measured) or not isinstance(gaps, Measured):
        return wait
    low, best, high = (max(0.0, end - gaps.value) for end in (wait.low, wait.value, wait.high))
    return Measured(best, low, high, wait.n, wait.unit)


STEADY_WAITS = derived("loader.exposed_wait_share", "Waiting apart from the gaps between epochs", _waits_within_epochs)
QUEUED = Signal("loader.fetch_run_queue_share", "Batches being made wait for a core")


def treat(signals: Signals, loader: LoaderSignals) -> Treatment | tuple[Evidence, ...]:
    """As many workers as keep up; kept over epochs where more of them cost more to start anew."""
    workload = predict.workload_of(signals, loader)
    workers = loader.settings.num_workers
    if workload is None:
        return ()
    more = predict.fewest_workers(workload)
    change = Change({"num_workers": max(more, workers)})
    gain = simulated(signals, workload, change)
    if loader.epochs > 1 and not loader.settings.persistent_workers:
        kept = Change({**change.settings, "persistent_workers": True})
        kept_gain = simulated(signals, workload, kept)
        if kept_gain.speedup.best >= gain.speedup.best * WORTH.value:
            change, gain = kept, kept_gain
    if more <= workers or not is_worth(gain):
        return (*_no_room(workload), predicted(gain, change))
    iterable = loader.settings.dataset_kind == "iterable"
    return Treatment(
        f"Start {more} workers: with {workers}, all of them are busy and the training still waits."
        + (f" {UNSHARDED}" if iterable else ""),
        change,
        safety=CHANGES_RESULTS if iterable else NEEDS_MEMORY,
        doubts=(UNSHARDED,) if iterable else (),
    )


def _no_room(workload: Workload) -> tuple[Evidence, ...]:
    """Says that no core is free, where that is why more workers gain nothing."""
    made_s = sum(batch.cpu_s + batch.send_s for batch in workload.batches)
    wall_s = sum(batch.cpu_s + batch.disk_s + batch.blocked_s + batch.send_s for batch in workload.batches)
    wanted = workload.settings.num_workers * (made_s / wall_s if wall_s > 0 else 0.0) + workload.compute_cpu_share
    if wanted <= workload.cores - 1:
        return ()
    text = f"No core is free: workers and training want {wanted:.1f} of {workload.cores:.1f} usable cores"
    return (Evidence(text, wanted, "cores", workload.cores),)


CAUSE = Cause(
    id="too-few-workers",
    title="All workers are busy, and the machine could run more of them",
    applies=(has_workers, is_torchs, has_workload),
    gates=(
        waits(),
        at_least(STEADY_WAITS, WAITING),
        at_least(BUSY_WORKERS, WORKERS_BUSY),
        below(QUEUED, CONTENDED, if_known=True),
    ),
    treat=treat,
    shows=(
        Signal("loader.ready_empty_share", "Requests that found no batch ready"),
        Signal("loader.fetch_s", "Making a batch, in a worker"),
        Signal("loader.compute_s", "Using a batch"),
        Signal("loader.fetch_blocked_share", "Making it is waiting, which other workers overlap"),
    ),
)
