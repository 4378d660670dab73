"""The host waits for the device in every step, so that what it does next is never hidden behind the device's work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.answers import bound, found, known, number, prescribe, ruled_out, share_of, waits_too_little
from loaderdoctor.causes.base import Cause, Finding, Threshold

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

ID = "device-sync"
SYNCED = Threshold(0.5, "a step", "Reading a loss every few steps costs the run-ahead of those steps only.")
DRAINED = Threshold(0.5, "share", "Where the queue still holds work, the host ran ahead whatever it had waited for.")
WAITED = Threshold(
    0.02, "share", "The wait for a batch can hide behind no more of the device's work than the host waits for."
)


def check(signals: Signals, loader: LoaderSignals) -> Finding:
    """Found where syncs drain the queue and the wait that follows could have hidden behind the device's work."""
    device = signals.device
    syncs = number(device.syncs_per_step, "Waits of the host for the device", SYNCED)
    drained = number(device.drained_share, "Requests that found the device's queue empty", DRAINED)
    waited = number(device.sync_share, "The host waits for the device, of the time", WAITED)
    if idle := waits_too_little(ID, loader):
        return idle
    if known(device.syncs_per_step) < SYNCED.value:
        return ruled_out(ID, loader, syncs)
    if known(device.drained_share) < DRAINED.value:
        return ruled_out(ID, loader, drained)
    if known(device.sync_share) < WAITED.value:
        return ruled_out(ID, loader, waited)
    # Host and device take turns now.  Side by side, the shorter of the two waits goes; half of it, if steps vary.
    hidden = min(known(loader.exposed_wait_share), known(device.sync_share))
    return found(
        ID,
        loader,
        syncs,
        drained,
        waited,
        number(loader.exposed_wait_share, "The device then waits for the next batch, of the time"),
        step_share=share_of(loader.exposed_wait_share),
        gain=bound(hidden, at_least=hidden / 2),
        prescription=prescribe(
            None,
            {},
            "Read the loss every few dozen steps: sum it on the device and call .item() when it is shown.",
        ),
    )


CAUSE = Cause(
    id=ID,
    title="The host waits for the device in every step, so that no wait for data is hidden",
    needs=("loader.exposed_wait_share", "device.syncs_per_step", "device.drained_share", "device.sync_share"),
    check=check,
    scope="run",
)
