"""The host waits for the device in every step, so that what it does next is never hidden behind the device's work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Cause, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, bound, known, waits

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

SYNCED = Threshold(0.5, "a step", "Reading a loss every few steps costs the run-ahead of those steps only.")
DRAINED = Threshold(0.5, "share", "Where the queue still holds work, the host ran ahead whatever it had waited for.")
WAITED = Threshold(
    0.02, "share", "The wait for a batch can hide behind no more of the device's work than the host waits for."
)


def treat(signals: Signals, loader: LoaderSignals) -> Treatment:
    """Host and device take turns now: side by side the shorter of the two waits goes; half of it, if steps vary."""
    hidden = min(known(loader.exposed_wait_share), known(signals.device.sync_share))
    return Treatment(
        "Read the loss every few dozen steps: sum it on the device and call .item() when it is shown.",
        bound=bound(hidden, at_least=hidden / 2),
    )


CAUSE = Cause(
    id="device-sync",
    title="The host waits for the device in every step, so that no wait for data is hidden",
    gates=(
        waits(),
        at_least(Signal("device.syncs_per_step", "Waits of the host for the device"), SYNCED),
        at_least(Signal("device.drained_share", "Requests that found the device's queue empty"), DRAINED),
        at_least(Signal("device.sync_share", "The host waits for the device, of the time"), WAITED),
    ),
    treat=treat,
    scope="run",
)
