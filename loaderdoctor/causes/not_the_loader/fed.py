"""What both limits ask of a run that does not starve: whether the device still works when a batch is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Threshold
from loaderdoctor.causes.gates import STARVED, STARVES, below, derived
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

DRAINED = Threshold(
    0.5, "share", "A device whose queue is empty at most requests waits for the host, not the other way round."
)
SYNCED = Threshold(
    0.5, "a step", "A host that waits for the device in most steps finds it empty, however fast it launches."
)
FED = below(STARVED, STARVES)  # limits are named for healthy runs alone


def _drained_by_the_host(signals: Signals, _loader: LoaderSignals) -> Value:
    drained, syncs = signals.device.drained_share, signals.device.syncs_per_step
    if isinstance(syncs, Measured) and syncs.value >= SYNCED.value and isinstance(drained, Measured):
        return Measured.exact(0.0, drained.unit, drained.n)  # emptied by waiting for it, which is another thing
    return drained


HOST_BEHIND = derived(
    "device.drained_share",
    "Requests that found the device's queue empty, though the host had not waited for it",
    _drained_by_the_host,
)
