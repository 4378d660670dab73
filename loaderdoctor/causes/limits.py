"""What both limits ask of a run that does not starve: whether the device still works when a batch is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.answers import STARVES
from loaderdoctor.causes.base import Threshold
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import Signals

DRAINED = Threshold(
    0.5, "share", "A device whose queue is empty at most requests waits for the host, not the other way round."
)
SYNCED = Threshold(
    0.5, "a step", "A host that waits for the device in most steps finds it empty, however fast it launches."
)


def fed(signals: Signals) -> bool:
    """Whether the run is healthy: limits are named for those alone."""
    share = signals.starved_share
    return isinstance(share, Measured) and share.value < STARVES.value


def host_behind(signals: Signals) -> bool | None:
    """Whether the device runs dry although the host never waits for it; None where that is not known."""
    drained, syncs = signals.device.drained_share, signals.device.syncs_per_step
    if not isinstance(drained, Measured):
        return None
    synced = isinstance(syncs, Measured) and syncs.value >= SYNCED.value
    return drained.value >= DRAINED.value and not synced
