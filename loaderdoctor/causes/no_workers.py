"""num_workers=0: the training process makes each batch itself, and the next step waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaderdoctor import predict
from loaderdoctor.causes.answers import (
    counted,
    found,
    is_worth,
    not_applicable,
    number,
    predicted,
    prescribe,
    ruled_out,
    share_of,
    simulated,
    waits_too_little,
)
from loaderdoctor.causes.base import CHANGES_RESULTS, NEEDS_MEMORY, Cause, Finding

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

ID = "no-workers"
UNSHARDED = "The dataset is an IterableDataset: unless it shards by get_worker_info(), each worker yields all of it."


def check(signals: Signals, loader: LoaderSignals) -> Finding:
    """Found where workers, replayed, would hide what the main process does between the steps."""
    if loader.settings.num_workers > 0:
        return not_applicable(ID, loader, f"The loader has {counted(loader.settings.num_workers)}.")
    workload = predict.workload_of(signals, loader)
    if (idle := waits_too_little(ID, loader)) or workload is None:
        return idle or not_applicable(ID, loader, "No batch of this loader was recorded.")
    settings: dict[str, Any] = {"persistent_workers": True} if loader.epochs > 1 else {}
    workers = predict.fewest_workers(workload, also=settings)
    settings = {"num_workers": workers, **settings}
    gain = simulated(signals, workload, settings)
    work = number(loader.fetch_s, "Making a batch, in the training process")
    if not is_worth(gain):
        # Where a sample costs less than its way between processes, the fault is how it is fetched, not where.
        return ruled_out(ID, loader, predicted(gain, workers), work)
    iterable = loader.settings.dataset_kind == "iterable"
    return found(
        ID,
        loader,
        number(loader.exposed_wait_share, "The training stands still while it makes batches"),
        work,
        number(loader.compute_s, "Using a batch"),
        step_share=share_of(loader.exposed_wait_share),
        gain=gain,
        prescription=prescribe(
            workload,
            settings,
            f"Let {counted(workers)} make the batches while the training goes on."
            + (f" {UNSHARDED}" if iterable else ""),
            CHANGES_RESULTS if iterable else NEEDS_MEMORY,
        ),
        doubts=(UNSHARDED,) if iterable else (),
    )


CAUSE = Cause(
    id=ID,
    title="The training process makes every batch itself, between the steps",
    needs=("loader.exposed_wait_share", "loader.workload"),
    check=check,
)
