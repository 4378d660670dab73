"""The loader keeps up with a fraction of its workers; the rest only takes memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor import predict
from loaderdoctor.causes.answers import WAITING, counted, found, known, not_applicable, number, prescribe, ruled_out
from loaderdoctor.causes.base import Cause, Evidence, Finding, Gain, Interval, Threshold
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

ID = "over-provisioned"
SPARE = Threshold(2.0, "times", "Up to twice the workers that are needed are a fair margin for slower days.")
MATERIAL = Threshold(256 << 20, "bytes", "Less is not worth a change to a pipeline that works.")
MATERIAL_OF_LIMIT = Threshold(0.02, "share", "The same, on machines with so much memory that nobody would notice.")
MARGIN = 1  # worker beyond the fewest that keep up, since the next run may be a little slower


def check(signals: Signals, loader: LoaderSignals) -> Finding:
    """Found where half of the workers would do and the memory of the rest matters."""
    workers = loader.settings.num_workers
    workload = predict.workload_of(signals, loader)
    if workers == 0 or workload is None:
        return not_applicable(ID, loader, "The loader has no workers.")
    if known(loader.exposed_wait_share) >= WAITING.value:
        return ruled_out(ID, loader, number(loader.exposed_wait_share, "Waiting for this loader", WAITING))
    needed = predict.fewest_workers(workload, workers)
    enough = needed + MARGIN
    have = f"{counted(workers)}, where {needed} would keep up and {MARGIN} more is to spare"
    need = Evidence(have, workers / enough, "times as many", SPARE.value)
    if workers < SPARE.value * enough:
        return ruled_out(ID, loader, need)
    advice = f"{enough} workers keep up just as well, with less memory."
    prescription = prescribe(workload, {"num_workers": enough}, advice)
    freed = -(prescription.memory_bytes or 0)
    least = _material_bytes(signals)
    memory = Evidence("Memory that the other workers and their batches hold", float(freed), "bytes", least)
    if freed < least:
        return ruled_out(ID, loader, memory)
    return found(
        ID,
        loader,
        memory,
        need,
        number(loader.ready_median, "Batches ready when the training asks"),
        gain=Gain(Interval(1.0, 1.0, 1.0), "simulated"),
        prescription=prescription,
    )


def _material_bytes(signals: Signals) -> float:
    limit = signals.machine.memory_limit_bytes
    share = MATERIAL_OF_LIMIT.value * limit.value if isinstance(limit, Measured) else 0.0
    return max(MATERIAL.value, share)


CAUSE = Cause(
    id=ID,
    title="The loader holds more memory than it needs for this speed",
    needs=("loader.exposed_wait_share", "loader.workload"),
    check=check,
)
