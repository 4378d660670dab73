"""A stopwatch around next() charges waits to the loader that the device never noticed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Cause, Evidence, Signal, Threshold
from loaderdoctor.causes.gates import at_least, number, value_of

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

MISLED = Threshold(0.05, "share", "From this on, a script's own timer says starving where the device is fed.")
HIDDEN = Signal("device.hidden_wait_share", "Waits that the host's clock shows and the device did not notice")


def treat(signals: Signals, loader: LoaderSignals) -> tuple[Evidence, ...]:
    """Never found: it slows nothing down.  Says how far a timer of the script's own is off."""
    return (number(value_of(HIDDEN, signals, loader), HIDDEN.text, MISLED),)


CAUSE = Cause(
    id="timer-misattribution",
    title="A stopwatch around next() shows waits that the device never noticed",
    gates=(at_least(HIDDEN, MISLED),),
    treat=treat,
    scope="run",
)
