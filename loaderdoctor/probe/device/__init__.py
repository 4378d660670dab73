"""The device clock: exposed waits, copies and host waits, on the device's own clock where it has one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .._importlib_bootstrap import transfer, waiting
from .backend import find
from .clock import DeviceClock

if TYPE_CHECKING:
    from .lane import Writer

_hooked: set[str] = set()  # kinds of device that have their hooks, torch.Tensor with them


def make_clock(writer: Writer) -> DeviceClock:
    """The clock of a recording; torch, which the script has imported, is touched only once the script uses a device."""
    torch: Any = sys.modules["torch"]
    return DeviceClock(writer, lambda: find(torch), hook=lambda kind: _hook(torch, kind))


def _hook(torch: Any, kind: str) -> None:
    """Hear copies to this kind of device and waits for it."""
    if not _hooked:
        transfer.wrap(torch)
        waiting.wrap_tensor(torch)
    if kind not in _hooked:
        _hooked.add(kind)
        waiting.wrap_device(torch, kind)
