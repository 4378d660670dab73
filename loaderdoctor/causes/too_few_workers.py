"""Every worker is busy all the time, and the machine could run more of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaderdoctor import predict
from loaderdoctor.causes.answers import (
    WAITING,
    WORTH,
    found,
    is_worth,
    known,
    not_applicable,
    number,
    predicted,
    prescribe,
    ruled_out,
    share_of,
    simulated,
    waits_too_little,
)
from loaderdoctor.causes.base import CHANGES_RESULTS, NEEDS_MEMORY, Cause, Evidence, Finding, Threshold
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals, Workload

ID = "too-few-workers"
BUSY = Threshold(0.85, "share", "A worker that idles more than this is not what the training waits for.")
CONTENDED = Threshold(
    0.25, "share", "Batches that wait this much for a core show that processes are too many already, not too few."
)
UNSHARDED = "The dataset is an IterableDataset: more workers need as many shards, split by get_worker_info()."


def check(signals: Signals, loader: LoaderSignals) -> Finding:
    """Found where workers never idle and a replay with more of them is faster."""
    workers = loader.settings.num_workers
    if workers == 0:
        return not_applicable(ID, loader, "The loader has no workers.")
    workload = predict.workload_of(signals, loader)
    if (other := waits_too_little(ID, loader) or _other_limit(loader)) or workload is None:
        return other or not_applicable(ID, loader, "No batch of this loader was recorded.")
    more = predict.fewest_workers(workload)
    settings: dict[str, Any] = {"num_workers": max(more, workers)}
    gain = simulated(signals, workload, settings)
    if loader.epochs > 1 and not loader.settings.persistent_workers:
        kept = {**settings, "persistent_workers": True}
        kept_gain = simulated(signals, workload, kept)
        if kept_gain.speedup.best >= gain.speedup.best * WORTH.value:  # more workers cost more to start anew
            settings, gain = kept, kept_gain
    busy = number(loader.worker_busy_share, "Workers make batches, of their time", BUSY)
    if more <= workers or not is_worth(gain):
        return ruled_out(ID, loader, *_no_room(workload), predicted(gain, settings["num_workers"]), busy)
    iterable = loader.settings.dataset_kind == "iterable"
    return found(
        ID,
        loader,
        busy,
        number(loader.ready_empty_share, "Requests that found no batch ready"),
        number(loader.fetch_s, "Making a batch, in a worker"),
        number(loader.compute_s, "Using a batch"),
        number(loader.fetch_blocked_share, "Making it is waiting, which other workers overlap"),
        step_share=share_of(loader.exposed_wait_share),
        gain=gain,
        prescription=prescribe(
            workload,
            settings,
            f"Start {more} workers: with {workers}, all of them are busy and the training still waits."
            + (f" {UNSHARDED}" if iterable else ""),
            CHANGES_RESULTS if iterable else NEEDS_MEMORY,
        ),
        doubts=(UNSHARDED,) if iterable else (),
    )


def _other_limit(loader: LoaderSignals) -> Finding | None:
    """Waits that more workers would not shorten: between epochs, for idle workers, for a core."""
    steady = known(loader.exposed_wait_share) - known(loader.epoch_gap_share)
    if steady < WAITING.value:
        return ruled_out(ID, loader, number(loader.epoch_gap_share, "The waits are the gaps between epochs", WAITING))
    busy = loader.worker_busy_share
    if not isinstance(busy, Measured) or busy.high < BUSY.value:
        return ruled_out(ID, loader, number(busy, "Workers make batches, of their time", BUSY))
    queued = loader.fetch_run_queue_share
    if isinstance(queued, Measured) and queued.value >= CONTENDED.value:
        return ruled_out(ID, loader, number(queued, "Batches being made wait for a core", CONTENDED))
    return None


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
    id=ID,
    title="All workers are busy, and the machine could run more of them",
    needs=("loader.exposed_wait_share", "loader.epoch_gap_share", "loader.worker_busy_share", "loader.workload"),
    check=check,
)
