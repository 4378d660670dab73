"""num_workers=0: the training process makes each batch itself, and the next step waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaderdoctor import predict
from loaderdoctor.causes.base import CHANGES_RESULTS, NEEDS_MEMORY, Cause, Change, Evidence, Signal, Treatment
from loaderdoctor.causes.gates import counted, has_no_workers, has_workload, is_torchs, waits

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

UNSHARDED = "The dataset is an IterableDataset: unless it shards by get_worker_info(), each worker yields all of it."


def treat(signals: Signals, loader: LoaderSignals) -> Treatment | tuple[Evidence, ...]:
    """As many workers as hide the work.

    Where a sample costs less than its way between processes, the replay says so: the fault is how it is fetched, not where.
    """
    workload = predict.workload_of(signals, loader)
    settings: dict[str, Any] = {"persistent_workers": True} if loader.epochs > 1 else {}
    workers = predict.fewest_workers(workload, also=settings) if workload else 1
    iterable = loader.settings.dataset_kind == "iterable"
    return Treatment(
        f"Let {counted(workers)} make the batches while the training goes on." + (f" {UNSHARDED}" if iterable else ""),
        Change({"num_workers": workers, **settings}),
        safety=CHANGES_RESULTS if iterable else NEEDS_MEMORY,
        doubts=(UNSHARDED,) if iterable else (),
    )


CAUSE = Cause(
    id="no-workers",
    title="The training process makes every batch itself, between the steps",
    applies=(has_no_workers, is_torchs, has_workload),
    gates=(waits(),),
    treat=treat,
    shows=(
        Signal("loader.fetch_s", "Making a batch, in the training process"),
        Signal("loader.compute_s", "Using a batch"),
    ),
)
