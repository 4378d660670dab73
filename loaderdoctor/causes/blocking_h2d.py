"""Batches are pinned, but each copy holds up the host and the one stream there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.answers import bound, found, known, number, prescribe, ruled_out, share_of
from loaderdoctor.causes.base import Cause, Finding
from loaderdoctor.causes.copies import BLOCKING, EXPOSED, PINNED
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

ID = "blocking-h2d"


def check(signals: Signals, loader: LoaderSignals) -> Finding:
    """Found where pinned copies are felt because the host waits for each."""
    device = signals.device
    exposed = number(device.copy_share, "Copies to the device that it waits for, of the time", EXPOSED)
    pinned = number(device.pinned_share, "Bytes copied from pinned memory", PINNED)
    blocking = number(device.blocking_share, "Copies that the host waits for", BLOCKING)
    if known(device.copy_share) < EXPOSED.value:
        return ruled_out(ID, loader, exposed)
    if known(device.pinned_share) < PINNED.value:  # pinning comes first: without it no copy runs beside the host
        return ruled_out(ID, loader, pinned)
    if known(device.blocking_share) < BLOCKING.value:
        return ruled_out(ID, loader, blocking)
    hidden = min(known(device.copy_share), _computing(signals))
    return found(
        ID,
        loader,
        exposed,
        blocking,
        pinned,
        step_share=share_of(device.copy_share),
        gain=bound(hidden, at_least=hidden / 2),
        prescription=prescribe(
            None, {}, "Copy the next batch with non_blocking=True on a stream of its own while this one is computed."
        ),
    )


def _computing(signals: Signals) -> float:
    """Share of the step behind which a copy can hide."""
    computing = signals.steps.compute_share
    return computing.value if isinstance(computing, Measured) else 1.0


CAUSE = Cause(
    id=ID,
    title="The copy of each batch to the device holds up the training",
    needs=("device.copy_share", "device.pinned_share", "device.blocking_share"),
    check=check,
    scope="run",
)
