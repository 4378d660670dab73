"""The device clock: exposed waits, copies and host waits, on the device's own clock where it has one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .._importlib_bootstrap import transfer, waiting
from .backend import find
from .clock import DeviceClock

if TYPE_CHECKING:
    from .backend import Backend
    from .lane import Writer


_hooked: set[str] = set()  # what has its hooks already: torch.Tensor, kinds of device


def make_clock(writer: Writer) -> DeviceClock:
    """The clock of a recording, with its hooks on torch, which the script has imported.

    Those on the classes of the device wait until a loader asks for its first batch: only then is it sure which device it is.
    """
    torch: Any = sys.modules["torch"]

    def find_backend() -> Backend | None:
        backend = find(torch)
        if backend is not None and backend.kind not in _hooked:
            _hooked.add(backend.kind)
            waiting.wrap_device(torch, backend.kind)
        return backend

    if "Tensor" not in _hooked:
        _hooked.add("Tensor")
        transfer.wrap(torch)
        waiting.wrap_tensor(torch)
    return DeviceClock(writer, find_backend)
