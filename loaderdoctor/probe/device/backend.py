"""One way to ask any accelerator: is it in use, which stream, record a point in it, is it passed, how long between two."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from types import ModuleType

NS_PER_MS = 1e6
NS_PER_US = 1000


class NoTimingError(Exception):
    """The device's events tell no times, contrary to what was assumed."""


class Backend(Protocol):
    """What the device clock asks of a device; also answered by a simulated one and by a recorded trace."""

    kind: str
    """As in `torch.device.type`."""
    timed: bool
    """Whether `elapsed_ns` may be asked; else only `done` tells anything."""
    tells_activity: bool
    """Whether `active` knows by itself; else the first copy to the device does, which must be heard."""

    def active(self) -> bool:
        """Whether the script uses the device already.  Asking must not start it."""

    def index(self) -> int:
        """The current device of this thread."""

    def stream(self, index: int) -> Any:
        """The stream of this thread that work for a device goes to."""

    def event(self) -> Any:
        """A new point, not yet in any stream."""

    def capturing(self) -> bool:
        """Whether this thread's stream is capturing a graph: nothing may be recorded and nothing asked."""

    def record(self, event: Any, stream: Any) -> None:
        """Put the point at the end of the stream."""

    def done(self, event: Any) -> bool:
        """Whether the device has come to the point.  Never waits."""

    def elapsed_ns(self, start: Any, end: Any) -> int:
        """Device time between two points that are done."""

    def seen(self) -> None:
        """Work of the script for the device was seen."""

    def host_memory(self) -> tuple[int, int, int] | None:
        """Pinned memory taken from the driver so far: allocations, bytes held, ns it took; None where torch does not tell."""


class ModuleBackend:
    """A device whose module of torch has streams and events as `torch.cuda` has: CUDA, ROCm, XPU, plug-ins."""

    timed = True

    def __init__(self, torch: ModuleType, kind: str) -> None:
        self.kind = kind
        self._torch = torch
        self._module = torch.get_device_module(kind)
        self._is_initialized = getattr(self._module, "is_initialized", None)
        self._is_capturing = getattr(self._module, "is_current_stream_capturing", None)
        self._current_device = _first(self._module, "current_device", _accelerator(torch), "current_device_index")
        self._current_stream = _first(self._module, "current_stream", _accelerator(torch), "current_stream")
        self._raw_stream = getattr(torch._C, f"_{kind}_getCurrentRawStream", None)
        self._streams: dict[tuple[int, int], Any] = {}
        self.tells_activity = self._is_initialized is not None
        self._event_type = getattr(self._module, "Event", None)
        self._host_memory_stats = getattr(self._module, "host_memory_stats", None)
        self._seen = False

    def active(self) -> bool:
        """Where a plug-in cannot tell, the first copy to the device does."""
        return bool(self._is_initialized()) if self._is_initialized else self._seen

    def seen(self) -> None:
        """For plug-ins that cannot tell by themselves."""
        self._seen = True

    def index(self) -> int:
        """The device's number."""
        return int(self._current_device())

    def stream(self, index: int) -> Any:
        """The device's own kind of stream, or torch's generic one.

        Making the object takes microseconds, and there are few streams: they are kept by the number that torch's compiler
        asks for, where torch has it.
        """
        if self._raw_stream is None:
            return self._current_stream(index)
        key = index, self._raw_stream(index)
        stream = self._streams.get(key)
        if stream is None:
            stream = self._streams[key] = self._current_stream(index)
        return stream

    def event(self) -> Any:
        """With a time stamp where the device has them."""
        make = self._event_type or functools.partial(self._torch.Event, self.kind)
        if not self.timed:
            return make()
        try:
            return make(enable_timing=True)
        except (TypeError, RuntimeError, NotImplementedError) as error:
            raise NoTimingError(error) from error

    def capturing(self) -> bool:
        """An event would become a node of the graph, and asking for any other one ends the capture with an error."""
        return self._is_capturing is not None and bool(self._is_capturing())

    def record(self, event: Any, stream: Any) -> None:
        """By the event itself."""
        event.record(stream)

    def done(self, event: Any) -> bool:
        """By the event's own query."""
        return bool(event.query())

    def elapsed_ns(self, start: Any, end: Any) -> int:
        """From float32 milliseconds: exact to a microsecond only for points that are seconds apart at most."""
        try:
            return round(float(start.elapsed_time(end)) * NS_PER_MS)
        except (RuntimeError, NotImplementedError) as error:
            raise NoTimingError(error) from error

    def host_memory(self) -> tuple[int, int, int] | None:
        """By the names that torch 2.8 to 2.13 give its counters."""
        if self._host_memory_stats is None:
            return None
        stats = self._host_memory_stats()
        if "num_host_alloc" not in stats:
            return None
        held = stats.get("allocated_bytes.current", stats.get("segment_bytes.current", 0))
        return int(stats["num_host_alloc"]), int(held), int(stats.get("host_alloc_time.total", 0)) * NS_PER_US


class MpsBackend:
    """Apple's GPU: one stream, and `elapsed_time` would drain it, so it is only ever asked whether it is done."""

    kind = "mps"
    timed = False
    tells_activity = False

    def __init__(self, torch: ModuleType) -> None:
        self._torch = torch
        self._seen = False

    def active(self) -> bool:
        """It has no `is_initialized`; the first copy to it tells."""
        return self._seen

    def seen(self) -> None:
        """A copy went there."""
        self._seen = True

    def index(self) -> int:
        """There is one."""
        return 0

    def stream(self, index: int) -> Any:  # noqa: ARG002 - the protocol's, there is one device
        """There is one, and it has no object."""
        return None

    def event(self) -> Any:
        """Without a time stamp."""
        return self._torch.mps.Event()

    def capturing(self) -> bool:
        """It has no graphs."""
        return False

    def record(self, event: Any, stream: Any) -> None:  # noqa: ARG002 - the protocol's, there is one stream
        """Commits what is encoded so far."""
        event.record()

    def done(self, event: Any) -> bool:
        """By the event's own query."""
        return bool(event.query())

    def elapsed_ns(self, start: Any, end: Any) -> int:  # noqa: ARG002 - the protocol's
        """Refused: it would wait for the device."""
        raise NoTimingError(self.kind)

    def host_memory(self) -> tuple[int, int, int] | None:
        """It has no pinned memory."""
        return None


def find(torch: ModuleType) -> Backend | None:
    """The accelerator that this torch was built for or has a plug-in for; None on a CPU.  Starts nothing."""
    kind = _accelerator_kind(torch)
    if kind is None:
        return None
    return MpsBackend(torch) if kind == "mps" else ModuleBackend(torch, kind)


def _accelerator_kind(torch: ModuleType) -> str | None:
    accelerator = _accelerator(torch)
    if accelerator is not None:
        device = accelerator.current_accelerator()
        return None if device is None else str(device.type)
    # torch 2.4 and 2.5 do not say; `is_available` of CUDA may start the driver, the version of what it was built for not
    if torch.version.cuda or torch.version.hip:
        return "cuda"
    if torch.backends.mps.is_built():
        return "mps"
    if getattr(torch.version, "xpu", None):
        return "xpu"
    plug_in = str(torch._C._get_privateuse1_backend_name())
    return plug_in if hasattr(torch, plug_in) else None


def _accelerator(torch: ModuleType) -> Any:
    return getattr(torch, "accelerator", None)


def _first(owner: Any, name: str, other: Any, other_name: str) -> Any:
    return getattr(owner, name, None) or getattr(other, other_name)
