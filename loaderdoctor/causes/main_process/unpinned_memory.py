"""Batches are copied to the device from ordinary memory, which is slow and holds up the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import NEEDS_MEMORY, Action, Cause, Change, Signal, Treatment
from loaderdoctor.causes.gates import COPIES_FELT, EXPOSED_COPIES, FROM_PINNED, PINNED, at_least, below, bound, known

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

SHARED_MEMORY_KINDS = ("mps",)  # host and device share memory: pinning is switched off there
_PIN = "Pin the batches, and copy them with non_blocking=True, so that the host launches ahead meanwhile."
_COPY = Action("code", "Copy each batch without waiting for the copy.", example="x = x.to(device, non_blocking=True)")
_UNDONE = "pin_memory is on already, so something between the loader and the copy undoes it."
_FOREIGN = "The loader is not torch's DataLoader: where its batches lose or lack pinned memory was not recorded."
_UNHELPED = (
    "Give a batch type of your own a pin_memory() method, and convert types on the device, after the copy: "
    "what .to() converts first is copied from ordinary memory."
)


def has_memory_of_its_own(signals: Signals, _loader: LoaderSignals) -> str | None:
    """Pinning means something only where host and device are two memories."""
    kind = signals.device.kind
    return f"On {kind}, host and device share memory." if kind in SHARED_MEMORY_KINDS else None


def treat(signals: Signals, loader: LoaderSignals) -> Treatment:
    """Pinning, unless it is on and does not help."""
    at_most = bound(known(signals.device.copy_share))
    if loader.settings.pin_memory:
        return Treatment(_UNHELPED, bound=at_most, doubts=(_UNDONE,))
    if not loader.settings.torch_loader:
        return Treatment(_UNHELPED, bound=at_most, doubts=(_FOREIGN,))
    return Treatment(_PIN, Change({"pin_memory": True}), at_most, actions=(_COPY,), safety=NEEDS_MEMORY)


CAUSE = Cause(
    id="unpinned-memory",
    title="Batches are copied to the device from memory that is not pinned",
    applies=(has_memory_of_its_own,),
    gates=(at_least(EXPOSED_COPIES, COPIES_FELT), below(FROM_PINNED, PINNED)),
    treat=treat,
    shows=(Signal("device.copy_bandwidth", "Speed of the copies"),),
    slice=EXPOSED_COPIES,
    scope="run",
)
