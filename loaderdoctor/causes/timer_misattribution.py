"""A stopwatch around next() charges waits to the loader that the device never noticed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.answers import number, ruled_out
from loaderdoctor.causes.base import Cause, Finding, Threshold

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

ID = "timer-misattribution"
MISLED = Threshold(0.05, "share", "From this on, a script's own timer says starving where the device is fed.")


def check(signals: Signals, loader: LoaderSignals) -> Finding:
    """Never found: it slows nothing down.  Says how far a timer of the script's own is off."""
    what = "Waits that the host's clock shows and the device did not notice"
    return ruled_out(ID, loader, number(signals.device.hidden_wait_share, what, MISLED))


CAUSE = Cause(
    id=ID,
    title="A stopwatch around next() shows waits that the device never noticed",
    needs=("device.hidden_wait_share",),
    check=check,
    scope="run",
)
