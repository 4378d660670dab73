"""The host cannot launch kernels as fast as the device runs them; the loaders keep up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.answers import STARVES, found, number, ruled_out
from loaderdoctor.causes.base import Cause, Finding
from loaderdoctor.causes.limits import DRAINED, SYNCED, fed, host_behind

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

ID = "launch-bound"


def check(signals: Signals, loader: LoaderSignals) -> Finding:
    """Found where the device's queue is empty at most requests, without waits for data and without syncs."""
    waiting = number(signals.starved_share, "Waiting for data, of the time after warm-up", STARVES)
    if not fed(signals):
        return ruled_out(ID, loader, waiting)
    drained = number(signals.device.drained_share, "Requests that found the device's queue empty", DRAINED)
    syncs = number(signals.device.syncs_per_step, "Waits of the host for the device", SYNCED)
    if not host_behind(signals):
        return ruled_out(ID, loader, drained, syncs)
    return found(ID, loader, drained, syncs, waiting)


CAUSE = Cause(
    id=ID,
    title="The host launches kernels more slowly than the device runs them; the data keeps up",
    needs=("starved_share", "device.drained_share", "device.syncs_per_step"),
    check=check,
    scope="run",
    is_limit=True,
)
