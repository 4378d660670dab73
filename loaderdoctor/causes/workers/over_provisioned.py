"""The loader keeps up with a fraction of its workers; the rest only takes memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor import predict
from loaderdoctor.causes.base import Cause, Change, Evidence, Gain, Interval, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import EXPOSED_WAIT, WAITING, below, counted, has_workers, has_workload, is_torchs
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

SPARE = Threshold(2.0, "times", "Up to twice the workers that are needed are a fair margin for slower days.")
MATERIAL = Threshold(256 << 20, "bytes", "Less is not worth a change to a pipeline that works.")
MATERIAL_OF_LIMIT = Threshold(0.02, "share", "The same, on machines with so much memory that nobody would notice.")
MARGIN = 1  # worker beyond the fewest that keep up, since the next run may be a little slower
AS_FAST = Gain(Interval(1.0, 1.0, 1.0), "simulated")


def treat(signals: Signals, loader: LoaderSignals) -> Treatment | tuple[Evidence, ...]:
    """Half of the workers, where the memory of the rest matters."""
    workers = loader.settings.num_workers
    workload = predict.workload_of(signals, loader)
    if workload is None:
        return ()
    needed = predict.fewest_workers(workload, workers)
    enough = needed + MARGIN
    have = f"{counted(workers)}, where {needed} would keep up and {MARGIN} more is to spare"
    need = Evidence(have, workers / enough, "times as many", SPARE.value)
    if workers < SPARE.value * enough:
        return (need,)
    change = Change({"num_workers": enough})
    then, now = predict.memory_bytes(workload, change.settings), predict.memory_bytes(workload, {})
    freed = now - then if then is not None and now is not None else 0
    least = _material_bytes(signals)
    memory = Evidence("Memory that the other workers and their batches hold", float(freed), "bytes", least)
    if freed < least:
        return (memory,)
    return Treatment(
        f"{enough} workers keep up just as well, with less memory.", change, gain=AS_FAST, shows=(memory, need)
    )


def _material_bytes(signals: Signals) -> float:
    limit = signals.machine.memory_limit_bytes
    share = MATERIAL_OF_LIMIT.value * limit.value if isinstance(limit, Measured) else 0.0
    return max(MATERIAL.value, share)


CAUSE = Cause(
    id="over-provisioned",
    title="The loader holds more memory than it needs for this speed",
    applies=(has_workers, is_torchs, has_workload),
    gates=(below(EXPOSED_WAIT, WAITING),),
    treat=treat,
    shows=(Signal("loader.ready_median", "Batches ready when the training asks"),),
)
