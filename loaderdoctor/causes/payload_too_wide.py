"""Batches have more bytes than the way to the device takes in a step, however well they are copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.answers import bound, found, known, number, prescribe, ruled_out, share_of
from loaderdoctor.causes.base import CHANGES_RESULTS, Cause, Finding, Threshold
from loaderdoctor.causes.copies import BLOCKING, EXPOSED, PINNED

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

ID = "payload-too-wide"
WIDE = Threshold(1 << 20, "bytes a step", "Copies of less take as long as their start, not as their bytes.")
HALVED, QUARTERED = 1 / 2, 3 / 4  # of the bytes that float16 and uint8 save against float32


def check(signals: Signals, loader: LoaderSignals) -> Finding:
    """Found where pinned copies that nobody waits for on the host are still felt by the device."""
    device = signals.device
    exposed = number(device.copy_share, "Copies to the device that it waits for, of the time", EXPOSED)
    size = number(device.copy_bytes_per_step, "Bytes copied in a step", WIDE)
    if known(device.copy_share) < EXPOSED.value:
        return ruled_out(ID, loader, exposed)
    if known(device.copy_bytes_per_step) < WIDE.value:
        return ruled_out(ID, loader, size)
    if known(device.pinned_share) < PINNED.value:
        return ruled_out(ID, loader, number(device.pinned_share, "Bytes copied from pinned memory", PINNED))
    if known(device.blocking_share) >= BLOCKING.value:
        return ruled_out(ID, loader, number(device.blocking_share, "Copies that the host waits for", BLOCKING))
    copies = known(device.copy_share)
    return found(
        ID,
        loader,
        exposed,
        size,
        number(device.copy_bandwidth, "Speed of the copies"),
        step_share=share_of(device.copy_share),
        gain=bound(copies * QUARTERED, at_least=copies * HALVED),
        prescription=prescribe(
            None,
            {},
            "Send narrower numbers (uint8 pictures, class numbers, float16) and widen them on the device.",
            CHANGES_RESULTS,
        ),
        doubts=("How wide the numbers need to be is not in a recording; the gain is that of half to a quarter.",),
    )


CAUSE = Cause(
    id=ID,
    title="Batches are wider than they need to be when they are moved",
    needs=("device.copy_share", "device.copy_bytes_per_step", "device.pinned_share", "device.blocking_share"),
    check=check,
    scope="run",
)
