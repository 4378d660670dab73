"""The CPU's clock falls during the run, and with it the speed at which batches are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, below, bound, known, waits

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

STEADY = Threshold(
    0.85, "times", "Clocks wander by a tenth with load and warmth; what falls by more than that is held down."
)
COMPUTES = Threshold(0.5, "share", "Only what computes most of its time is slowed by a slower clock.")
BUSY = Threshold(0.5, "share", "The clock of idle CPUs is low by design.")


def treat(signals: Signals, loader: LoaderSignals) -> Treatment:
    """Cooling and power, not the loader."""
    lost = max(0.0, 1 - known(signals.hardware.cpu_clock_change, 1.0)) * known(loader.fetch_cpu_share)
    return Treatment(
        "Let the machine cool, raise its power limit, or set the performance governor (cpupower frequency-set -g performance): "
        "the same work takes longer than at the start.",
        bound=bound(known(loader.exposed_wait_share) * lost),
        actions=(Action("system", "cpupower frequency-set -g performance, and look at the machine's temperatures"),),
    )


CAUSE = Cause(
    id="clock-throttled",
    title="The clock of the CPU is held down",
    gates=(
        waits(),
        at_least(Signal("loader.fetch_cpu_share", "Making a batch is computing"), COMPUTES),
        at_least(Signal("machine.cpu_busy_share", "The CPUs are busy, by this job"), BUSY),
        below(Signal("hardware.cpu_clock_change", "The CPU's clock late in the run over early in it"), STEADY),
    ),
    treat=treat,
    shows=(Signal("hardware.device_held_share", "Looks at which heat or power held the device's clock down"),),
)
