"""The device, or the CPU that computes, is what takes the time; the loaders keep up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.answers import STARVES, found, known, number, ruled_out, share_of
from loaderdoctor.causes.base import Cause, Finding, Threshold
from loaderdoctor.causes.limits import DRAINED, fed, host_behind

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

ID = "gpu-bound"
COMPUTING = Threshold(0.8, "share", "Below it, copies or other work of the step take a part that is worth a look.")


def check(signals: Signals, loader: LoaderSignals) -> Finding:
    """Found where hardly anything but computing is left of a step."""
    waiting = number(signals.starved_share, "Waiting for data, of the time after warm-up", STARVES)
    if not fed(signals):
        return ruled_out(ID, loader, waiting)
    if host_behind(signals):
        drained = number(signals.device.drained_share, "Requests that found the device's queue empty", DRAINED)
        return ruled_out(ID, loader, drained)
    computing = number(signals.steps.compute_share, "Computing, of a step", COMPUTING)
    if known(signals.steps.compute_share) < COMPUTING.value:
        return ruled_out(ID, loader, computing)
    return found(ID, loader, computing, waiting, step_share=share_of(signals.steps.compute_share))


CAUSE = Cause(
    id=ID,
    title="The device, or the CPU that computes, takes the time; the data keeps up",
    needs=("starved_share", "steps.compute_share"),
    check=check,
    scope="run",
    is_limit=True,
)
