"""The training waits for an evaluation that waits for its own data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaderdoctor import predict
from loaderdoctor.causes.base import NEEDS_MEMORY, Cause, Change, Evidence, Signal, Treatment
from loaderdoctor.causes.engine import is_worth, simulated
from loaderdoctor.causes.gates import EXPOSED_WAIT, STARVES, at_least, bound, counted, has_workload, known

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

EVALUATION = "eval"
LESS_OFTEN = "Evaluate less often, or on a part of the data, and make its batches cheaper: do once what is the same in every evaluation."


def is_for_evaluation(_signals: Signals, loader: LoaderSignals) -> str | None:
    """For loaders that no optimizer's step follows."""
    return None if loader.role == EVALUATION else "The loader is the training's."


def treat(signals: Signals, loader: LoaderSignals) -> Treatment | tuple[Evidence, ...]:
    """Workers for the evaluation's loader, and kept from one to the next; where they gain nothing, fewer evaluations."""
    workload = predict.workload_of(signals, loader)
    if workload is not None and loader.settings.torch_loader:
        workers = max(loader.settings.num_workers, predict.fewest_workers(workload))
        settings: dict[str, Any] = {"num_workers": workers}
        if loader.epochs > 1:
            settings["persistent_workers"] = True
        changed = {name: value for name, value in settings.items() if getattr(loader.settings, name) != value}
        if changed and is_worth(simulated(signals, workload, Change(changed))):
            advice = f"Let {counted(workers)} make the evaluation's batches, and stay from one evaluation to the next. {LESS_OFTEN}"
            return Treatment(advice, Change(changed), safety=NEEDS_MEMORY)
    return Treatment(LESS_OFTEN, bound=bound(known(loader.exposed_wait_share)))


CAUSE = Cause(
    id="eval-stall",
    title="The evaluation loop holds up the training",
    applies=(is_for_evaluation, has_workload),
    gates=(at_least(EXPOSED_WAIT, STARVES),),
    treat=treat,
    shows=(
        Signal("loader.fetch_s", "Making a batch of the evaluation"),
        Signal("loader.compute_s", "Using it"),
        Signal("loader.epoch_gap_share", "Waits for the first batch of each evaluation, of the time"),
    ),
    explains=("no-workers", "too-few-workers"),
)
