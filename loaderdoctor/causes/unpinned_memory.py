"""Batches are copied to the device from ordinary memory, which is slow and holds up the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor import predict
from loaderdoctor.causes.answers import (
    WORTH,
    bound,
    found,
    known,
    not_applicable,
    number,
    prescribe,
    ruled_out,
    share_of,
    simulated,
)
from loaderdoctor.causes.base import NEEDS_MEMORY, Cause, Evidence, Finding
from loaderdoctor.causes.copies import EXPOSED, PINNED

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

ID = "unpinned-memory"
SHARED_MEMORY_KINDS = ("mps",)  # host and device share memory: pinning is switched off there


def check(signals: Signals, loader: LoaderSignals) -> Finding:
    """Found where copies are felt and most of their bytes come from memory that is not pinned."""
    device = signals.device
    if device.kind in SHARED_MEMORY_KINDS:
        return not_applicable(ID, loader, f"On {device.kind}, host and device share memory.")
    exposed = number(device.copy_share, "Copies to the device that it waits for, of the time", EXPOSED)
    pinned = number(device.pinned_share, "Bytes copied from pinned memory", PINNED)
    if known(device.copy_share) < EXPOSED.value:
        return ruled_out(ID, loader, exposed)
    if known(device.pinned_share) >= PINNED.value:
        return ruled_out(ID, loader, pinned)
    evidence = (exposed, pinned, number(device.copy_bandwidth, "Speed of the copies"))
    share = share_of(device.copy_share)
    if loader.settings.pin_memory or not loader.settings.torch_loader:
        return found(
            ID,
            loader,
            *evidence,
            step_share=share,
            gain=bound(known(device.copy_share)),
            prescription=prescribe(None, {}, _UNHELPED),
            doubts=(_UNDONE if loader.settings.pin_memory else _FOREIGN,),
        )
    settings = {"pin_memory": True}
    workload = predict.workload_of(signals, loader)
    gain = simulated(signals, workload, settings) if workload is not None else bound(known(device.copy_share))
    if workload is not None and gain.speedup.best < WORTH.value:
        replayed = Evidence("Replayed with pinned memory", gain.speedup.best, "times as fast", WORTH.value)
        return ruled_out(ID, loader, replayed, exposed)
    prescription = prescribe(workload, settings, _PIN, NEEDS_MEMORY)
    return found(ID, loader, *evidence, step_share=share, gain=gain, prescription=prescription)


_PIN = "Pin the batches, and copy them with non_blocking=True, so that the host launches ahead meanwhile."
_UNDONE = "pin_memory is on already, so something between the loader and the copy undoes it."
_FOREIGN = "The loader is not torch's DataLoader: where its batches lose or lack pinned memory was not recorded."
_UNHELPED = (
    "Give a batch type of your own a pin_memory() method, and convert types on the device, after the copy: "
    "what .to() converts first is copied from ordinary memory."
)

CAUSE = Cause(
    id=ID,
    title="Batches are copied to the device from memory that is not pinned",
    needs=("device.copy_share", "device.pinned_share"),
    check=check,
    scope="run",
)
