"""One rank makes the batches of all ranks and sends them theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, below, bound, known, waits

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

SEVERAL = Threshold(2.0, "processes", "One process has nobody to load for.")
ONE = Threshold(2.0, "processes", "Where more than one rank takes batches of its own, each loads for itself.")
EXAMPLE = "Accelerator(dataloader_config=DataLoaderConfiguration(dispatch_batches=False))"


def _has_other_processes(signals: Signals, _loader: LoaderSignals) -> str | None:
    return None if known(signals.job.processes, otherwise=1.0) > 1 else "One process trains."


def treat(signals: Signals, loader: LoaderSignals) -> Treatment:
    """Each rank makes its own part: the wait is shared out among them, if the store and the cores bear it."""
    ranks = known(signals.job.processes, otherwise=SEVERAL.value)
    wait = known(loader.exposed_wait_share)
    advice = (
        "Let each rank load its own part: a DistributedSampler, a stream that is split by rank, or dispatch_batches=False "
        "where accelerate made the loader."
    )
    return Treatment(
        advice,
        bound=bound(wait * (1 - 1 / ranks), at_least=0.0),
        actions=(Action("code", advice, site=loader.site, example=EXAMPLE),),
        doubts=("Whether the store and the cores bear a loader in each rank is not in a recording.",),
    )


CAUSE = Cause(
    id="rank0-dispatch",
    title="One rank loads for all of them",
    applies=(_has_other_processes,),
    gates=(
        at_least(Signal("job.processes", "Training processes of the job"), SEVERAL),
        below(Signal("job.loading", "Of those, processes that take batches from a loader"), ONE),
        waits(),
    ),
    treat=treat,
    shows=(Signal("loader.receive_s", "Taking a batch in from a worker"),),
    scope="run",
)
