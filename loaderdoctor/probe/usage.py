"""What this thread has used so far: CPU, waits for a core, faults, disk reads; cumulative, so that two readings subtract."""

from __future__ import annotations

import gc
import os
from _thread import _local
from contextlib import suppress
from threading import get_ident, main_thread
from time import thread_time_ns
from typing import Any

from .descriptors import open_aside
from .layout import UNKNOWN
from .standard import standard

try:
    _resource: Any = standard("resource")
    _RUSAGE_THREAD: int | None = _resource.RUSAGE_THREAD
except (ImportError, AttributeError):  # Linux only
    _RUSAGE_THREAD = None

EVERY_MEMORY = 16  # batches between two looks at the resident memory, which changes slowly
MOST_RESIDENT_BYTES = 2 << 30  # above, the kernel takes milliseconds to add up what is private
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_READ_BYTES = 256  # more than any of the files has
_SCHEDULE_WORDS, _IO_WORDS = 3, 10  # in files that are whole

# CPU ns, run-queue ns, major faults, blocks in, voluntary and involuntary switches, bytes from disk, bytes read
Reading = tuple[int, int, int, int, int, int, int, int]


class _OpenFile:
    """A file of /proc kept open: reading it again costs a tenth of opening it."""

    def __init__(self, path: str) -> None:
        self.descriptor = -1
        try:
            self.descriptor = open_aside(path, os.O_RDONLY)
            self.inode = os.fstat(self.descriptor).st_ino
        except OSError:
            return

    def words(self) -> list[bytes]:
        """The words in it; none where it cannot be read."""
        try:
            return os.pread(self.descriptor, _READ_BYTES, 0).split()
        except OSError:
            return []

    def __del__(self) -> None:
        if self.descriptor >= 0:
            with suppress(OSError):  # the script has closed it, as daemons close all
                if os.fstat(self.descriptor).st_ino == self.inode:
                    os.close(self.descriptor)


class _NoFile:
    """Of a thread beside the main one, which gets no descriptors: scripts may have hundreds of those."""

    def words(self) -> list[bytes]:
        """None."""
        return []


class _Files:
    """The files that tell about one thread, opened by that thread."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        kind = _OpenFile if get_ident() == main_thread().ident else lambda _path: _NoFile()
        self.schedule = kind("/proc/thread-self/schedstat")
        self.io = kind("/proc/thread-self/io")
        self.memory = kind("/proc/self/statm")


class _Local(_local):
    """Each thread its files; a fork's first thread inherits its parent's, which tell about the parent."""

    files: _Files | None = None

    def get(self) -> _Files:
        """This thread's files."""
        files = self.files
        if files is None or files.pid != os.getpid():
            files = self.files = _Files()
        return files


_of_this_thread = _Local()


def read_usage() -> Reading:
    """What this thread has used since it began; -1 where the platform does not tell."""
    files = _of_this_thread.get()
    major_faults = blocks_in = voluntary = involuntary = run_delay_ns = read_bytes = read_chars = UNKNOWN
    if _RUSAGE_THREAD is not None:
        used = _resource.getrusage(_RUSAGE_THREAD)
        major_faults, blocks_in = used.ru_majflt, used.ru_inblock
        voluntary, involuntary = used.ru_nvcsw, used.ru_nivcsw
    schedule = files.schedule.words()  # on the CPU ns, on the run queue ns, time slices
    if len(schedule) >= _SCHEDULE_WORDS:
        run_delay_ns = int(schedule[1])
    io = files.io.words()  # rchar: n wchar: n syscr: n syscw: n read_bytes: n ...
    if len(io) >= _IO_WORDS:
        read_chars, read_bytes = int(io[1]), int(io[9])
    cpu_ns = thread_time_ns()
    return cpu_ns, run_delay_ns, major_faults, blocks_in, voluntary, involuntary, read_bytes, read_chars


def used_between(before: Reading, after: Reading) -> tuple[int, ...]:
    """The differences of two readings, in their order."""
    return tuple(
        UNKNOWN if UNKNOWN in (early, late) else late - early for early, late in zip(before, after, strict=True)
    )


class Collections:
    """Full collections of Python's garbage collector in this process, counted from one look to the next."""

    def __init__(self) -> None:
        self.seen = 0

    def look(self) -> int:
        """How many there were since the last look."""
        before, self.seen = self.seen, gc.get_stats()[-1]["collections"]
        return self.seen - before


def blocks_written() -> int:
    """By this process, of 512 bytes; -1 where the platform does not tell."""
    return UNKNOWN if _RUSAGE_THREAD is None else int(_resource.getrusage(_resource.RUSAGE_SELF).ru_oublock)


def resident_bytes() -> int:
    """Resident memory of this process; -1 where the platform does not tell."""
    words = _of_this_thread.get().memory.words()  # pages: all, resident, shared, ...
    return int(words[1]) * _PAGE_BYTES if len(words) > 1 else UNKNOWN


def private_bytes() -> int:
    """Memory that this process shares with no other; -1 where that is unknown or takes too long to ask."""
    if resident_bytes() > MOST_RESIDENT_BYTES:
        return UNKNOWN
    try:
        with open("/proc/self/smaps_rollup", "rb") as file:
            lines = [line.split() for line in file if line.startswith(b"Private_")]
    except OSError:
        return UNKNOWN
    return sum(int(words[1]) for words in lines) * 1024
