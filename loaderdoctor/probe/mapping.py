"""Files of ours that are written and read as memory: no system call a time, and no descriptor kept.

`mmap.mmap` would keep a duplicate of the descriptor, and close whatever has its number by then; so libc is called itself.  A
mapped page that cannot be had ends the process with SIGBUS.  Hence a file is mapped only where its file system keeps what
it once gave: a plain local one, which neither copies blocks as they are written nor asks another machine for them.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from .standard import standard

_READ_WRITE, _SHARED = 0x1 | 0x2, 0x1  # PROT_READ | PROT_WRITE, MAP_SHARED: the same on each architecture of Linux
_FAILED = 2 ** (8 * 8) - 1
_STATFS_BYTES = 256  # more than any struct statfs; its first word is the file system's magic
# ext2, ext3 and ext4; xfs; f2fs; tmpfs; overlay.  Not btrfs and zfs (copy on write), nor anything of a network or FUSE.
_PLAIN = frozenset({0xEF53, 0x58465342, 0xF2F52010, 0x01021994, 0x794C7630})
_IS_KNOWN_PLATFORM = sys.platform == "linux" and sys.maxsize > 2**32 and sys.byteorder == "little"

GRANULARITY = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Mapping:
    """A part of a file as memory, until nothing refers to it any more: `octets` and, the same, `words` of 64 bits."""

    __slots__ = ("_address", "_libc", "_size", "octets", "words")

    def __init__(self, libc: Any, address: int, size: int) -> None:
        self._libc, self._address, self._size = libc, address, size
        self.octets: memoryview = memoryview(libc.octets(address, size)).cast("B")
        self.words: memoryview = self.octets.cast("q")

    def __del__(self) -> None:
        self._libc.munmap(self._address, self._size)


class _Libc:
    """The three calls that are needed of it."""

    def __init__(self) -> None:
        ctypes: Any = standard("ctypes")
        library = ctypes.CDLL(None)
        self._char = ctypes.c_char
        self.mmap = library.mmap
        self.mmap.restype = ctypes.c_size_t
        self.mmap.argtypes = (
            *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int),
            *(ctypes.c_int, ctypes.c_int, ctypes.c_long),
        )
        self.munmap = library.munmap
        self.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
        self.fstatfs = library.fstatfs
        self.fstatfs.argtypes = (ctypes.c_int, ctypes.c_char_p)
        self.buffer = ctypes.create_string_buffer

    def octets(self, address: int, size: int) -> Any:
        """The memory there."""
        return (self._char * size).from_address(address)


_libc: _Libc | None = None


def can_map(descriptor: int) -> bool:
    """Whether files of its file system are to be mapped."""
    libc = _library()
    return libc is not None and _is_plain(libc, descriptor)


def map_file(descriptor: int, offset: int, size: int) -> Mapping | None:
    """This part of an open file, which it must have and whose blocks must be its own; None where it is not to be mapped."""
    libc = _library()
    if libc is None or not _is_plain(libc, descriptor):
        return None
    address = libc.mmap(None, size, _READ_WRITE, _SHARED, descriptor, offset)
    return None if address == _FAILED else Mapping(libc, address, size)


def _library() -> _Libc | None:
    """The C library; None on a platform where its numbers are not those that we know."""
    global _libc
    if _libc is None and _IS_KNOWN_PLATFORM:
        try:
            _libc = _Libc()
        except (ImportError, OSError, AttributeError):  # a Python without ctypes, or a libc of another kind
            return None
    return _libc


def _is_plain(libc: _Libc, descriptor: int) -> bool:
    told = libc.buffer(_STATFS_BYTES)
    return libc.fstatfs(descriptor, told) == 0 and int.from_bytes(told.raw[:8], "little") in _PLAIN
