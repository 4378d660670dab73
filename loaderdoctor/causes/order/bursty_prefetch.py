"""On the mean batches are made fast enough, but in bursts: between them the few that are ready run out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor import predict
from loaderdoctor.causes.base import NEEDS_MEMORY, Action, Cause, Change, Evidence, Threshold, Treatment
from loaderdoctor.causes.engine import simulated
from loaderdoctor.causes.gates import WAITING, at_least, has_workers, has_workload, is_torchs, waits
from loaderdoctor.causes.order.head_of_line import OF_WAITS, SPREAD, SUPPLIED, UNEVEN
from loaderdoctor.causes.workers.too_few_workers import STEADY_WAITS
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

SUPPLY = Threshold(
    0.9, "times", "A deeper buffer only delays the waits of workers that make clearly fewer batches than are used."
)
FACTORS = (4, 8, 12, 16, 24, 32, 48, 64, 96)  # to choose from; beyond, batches should be made more evenly instead
WITHIN = 0.02  # of the best: more batches in memory for less than the noise are not worth it
OF_MEMORY = 0.25  # of what is available, in memory and in shared memory, since the rest of the run grows as well
_EVEN = (
    "Or refill more evenly: read smaller pieces, or read the next one in a thread of the worker while this one is used."
)


def treat(signals: Signals, loader: LoaderSignals) -> Treatment | tuple[Evidence, ...]:
    """The shallowest buffer that is about as good as any, and fits into memory."""
    workload = predict.workload_of(signals, loader)
    now = loader.settings.prefetch_factor or 2
    if workload is None:
        return ()
    room = _room_bytes(signals)
    gains = {}
    for factor in (factor for factor in FACTORS if factor > now):
        bytes_then = predict.memory_bytes(workload, {"prefetch_factor": factor})
        bytes_now = predict.memory_bytes(workload, {})
        if room is not None and bytes_then is not None and bytes_then - (bytes_now or 0) > room:
            break
        gains[factor] = simulated(signals, workload, Change({"prefetch_factor": factor})).speedup.best
    if not gains:
        return (Evidence("Memory for a deeper buffer", room, "bytes"),)
    best = max(gains.values())
    factor = next(factor for factor, gain in gains.items() if gain >= best * (1 - WITHIN))
    return Treatment(
        f"Keep more batches ready, with prefetch_factor={factor}.",
        Change({"prefetch_factor": factor}),
        safety=NEEDS_MEMORY,
        actions=(Action("code", _EVEN, site=loader.site),),
    )


def _room_bytes(signals: Signals) -> float | None:
    free = [signals.machine.memory_available_bytes, signals.machine.shm_free_bytes]
    return min((OF_MEMORY * value.value for value in free if isinstance(value, Measured)), default=None)


CAUSE = Cause(
    id="bursty-prefetch",
    title="Batches come in bursts, and between them the few that are ready run out",
    applies=(has_workers, is_torchs, has_workload),
    gates=(
        waits(),
        at_least(STEADY_WAITS, WAITING),
        at_least(SPREAD, UNEVEN),
        at_least(SUPPLIED, SUPPLY),
    ),
    treat=treat,
    shows=(OF_WAITS,),
    explains=("too-few-workers",),
)
