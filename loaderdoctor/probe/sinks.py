"""Where records go: into memory that is the file's, or, where a file system does not bear that, into the file itself.

A mapped file costs no system call a record and no descriptor, and what is in it outlives the process however that dies.  It
grows by chunks, each appended by one write that gives it its blocks for good, so that a full disk is an error then and there.
A chunk begins with a header that says whose it is: processes share a file without a lock.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

from .descriptors import open_aside
from .layout import RECORD_BYTES
from .mapping import GRANULARITY, can_map, map_file

if TYPE_CHECKING:
    from .mapping import Mapping

FIRST_BYTES = 8192  # of a process: a worker of a short epoch writes no more
GROWTH = 4
LARGEST_BYTES = 1 << 18
_SLOT_WORDS = RECORD_BYTES // 8


class NotMappableError(Exception):
    """The file system is none that files may be mapped on."""


class Chunk:
    """A part of a file that one process writes to, by slots of a record each; the first one is its header."""

    __slots__ = ("capacity", "mapping", "octets", "size", "slots")

    def __init__(self, mapping: Mapping, size: int, first: int) -> None:
        self.mapping = mapping
        self.octets = mapping.octets
        self.size = size
        self.capacity = size // RECORD_BYTES
        self.slots = count(first)  # one call takes a slot: threads need no lock


class MappedSink:
    """A file as memory.  Raises OSError where it cannot grow, NotMappableError where it is not to be mapped."""

    def __init__(self, path: str, header: bytes, reserved: int) -> None:
        self._path = path
        self._header = header
        self._first = self._chunk = self._claimed(FIRST_BYTES, 1 + reserved)
        self.bytes = FIRST_BYTES

    def put(self, record: bytes) -> None:
        """Write one record."""
        chunk, at = self.claim()
        chunk.octets[at : at + RECORD_BYTES] = record

    def claim(self) -> tuple[Chunk, int]:
        """The place of a record that is written again and again."""
        chunk = self._chunk
        slot = next(chunk.slots)
        while slot >= chunk.capacity:
            chunk = self._after(chunk)
            slot = next(chunk.slots)
        return chunk, slot * RECORD_BYTES

    def put_at(self, place: tuple[Chunk, int], record: bytes) -> None:
        """Write, or write again, what a place was claimed for."""
        chunk, at = place
        chunk.octets[at : at + RECORD_BYTES] = record

    def put_reserved(self, place: int, record: bytes) -> None:
        """Write, or write again, one of the records behind the first header."""
        at = (1 + place) * RECORD_BYTES
        self._first.octets[at : at + RECORD_BYTES] = record

    def close(self) -> None:
        """Nothing is held open; the memory goes with this object."""

    def _after(self, chunk: Chunk) -> Chunk:
        """The chunk that follows a full one, which another thread may have claimed meanwhile."""
        if self._chunk is chunk:
            size = min(LARGEST_BYTES, chunk.size * GROWTH)
            self._chunk = self._claimed(size, 1)
            self.bytes += size
        return self._chunk

    def _claimed(self, size: int, first: int) -> Chunk:
        descriptor = open_aside(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            if not can_map(descriptor):
                raise NotMappableError
            start = _appended(descriptor, self._header, size)
            mapping = map_file(descriptor, start, size)
        finally:
            os.close(descriptor)
        if mapping is None:
            raise NotMappableError
        return Chunk(mapping, size, first)


def _appended(descriptor: int, header: bytes, size: int) -> int:
    """Where in the file a new chunk begins.  Raises OSError where it has no room."""
    for _ in range(2):
        written = os.write(descriptor, header + bytes(size - len(header)))
        start = os.lseek(descriptor, 0, os.SEEK_CUR) - written
        if written == size and start % GRANULARITY == 0:
            return start
        if written < size and os.write(descriptor, bytes(-(start + written) % GRANULARITY or GRANULARITY)) <= 0:
            break  # a write that had no room for all; what follows is aligned again
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class WrittenSink:
    """A file of one process, a write a record.  Raises OSError where that fails, or where the script took the descriptor."""

    def __init__(self, path: str, header: bytes, reserved: int) -> None:
        self._descriptor = open_aside(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._identity = _identity(self._descriptor)
        self._reserved = [bytes(RECORD_BYTES)] * reserved
        self.bytes = 0
        try:
            self.put(header)
        except OSError:
            self.close()
            os.unlink(path)
            raise

    def put(self, record: bytes) -> None:
        """Write one record, unless the descriptor is another file's by now: scripts close all, and open their own."""
        if _identity(self._descriptor) != self._identity:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        if os.write(self._descriptor, record) != len(record):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.bytes += len(record)

    def claim(self) -> int:
        """As MappedSink's; what is put there is kept for the end."""
        self._reserved.append(bytes(RECORD_BYTES))
        return len(self._reserved) - 1

    def put_reserved(self, place: int, record: bytes) -> None:
        """Keep it for the end."""
        self._reserved[place] = record

    put_at = put_reserved

    def close(self) -> None:
        """Write what was kept, and give the descriptor back if it is still ours."""
        with suppress(OSError):
            for record in self._reserved:
                if any(record):
                    self.put(record)
            if _identity(self._descriptor) == self._identity:
                os.close(self._descriptor)


def _identity(descriptor: int) -> tuple[int, int]:
    about = os.fstat(descriptor)
    return about.st_dev, about.st_ino
