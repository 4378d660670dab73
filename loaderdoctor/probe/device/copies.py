"""What was copied from the host to one device between two requests, and the record of it."""

from __future__ import annotations

from typing import NamedTuple

from ..layout import KIND_OF

_COPY = KIND_OF["copy"]


class Copy(NamedTuple):
    """One copy, as the script asked for it.

    blocking: without `non_blocking`.  converted: its type or layout changed on the way.  host_ns: how long it held the host.
    """

    bytes: int
    pinned: bool
    blocking: bool
    converted: bool
    host_ns: int


class Copies:
    """The sum over one step's copies."""

    __slots__ = ("blocking", "bytes", "converted", "count", "host_ns", "pinned", "pinned_bytes", "side")

    def __init__(self) -> None:
        self.count = self.bytes = self.pinned = self.pinned_bytes = 0
        self.blocking = self.converted = self.host_ns = self.side = 0

    def add(self, copy: Copy, *, side: bool) -> None:
        """One more; `side` tells that it went to another stream than the kernels."""
        self.count += 1
        self.bytes += copy.bytes
        self.pinned += copy.pinned
        self.pinned_bytes += copy.bytes * copy.pinned
        self.blocking += copy.blocking
        self.converted += copy.converted
        self.host_ns += copy.host_ns
        self.side |= side

    def record(self, iterator: int, ordinal: int, device: int, device_ns: int) -> tuple[int, ...]:
        """For the file; device_ns is -1 where it was not measured."""
        return (
            *(_COPY, iterator, ordinal, device, self.count, self.bytes, self.pinned, self.pinned_bytes),
            *(self.blocking, self.converted, self.host_ns, device_ns, self.side),
        )
