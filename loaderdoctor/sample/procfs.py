"""Files below /proc and /sys, read cheaply and without trust: a process may end between any two reads."""

from __future__ import annotations

import errno
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

READ_BYTES = 16384  # more than any file of one process that is read here; a longer one is cut, never waited for
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
BYTES_PER_KIB = 1024

# A look that takes long (page tables, mappings, many threads) is repeated so rarely that it stays below this share of
# one core: it holds locks of the process it looks at.
RARE_SHARE = 0.0005


NOT_FOR_LOOKS = 64  # descriptors for all else: streams, files of samples, what Python opens to import something
MOST_KEPT = 1 << 16  # enough for any tree


@dataclass(frozen=True)
class Roots:
    """Where the kernel's files are; tests put a drawn tree in their place."""

    proc: Path = Path("/proc")
    cgroup: Path = Path("/sys/fs/cgroup")
    sys: Path = Path("/sys")
    shm: Path = Path("/dev/shm")  # noqa: S108 - looked at, never written to
    root: Path = Path("/")

    @property
    def has_proc(self) -> bool:
        """Whether this is a system with /proc at all: macOS has none."""
        return self.proc.is_dir()


def read_text(path: Path) -> str | None:
    """The text of a small file, stripped; None where it is not there or may not be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def read_int(path: Path) -> int | None:
    """The one number in a file; None where there is none, "max" included."""
    text = read_text(path)
    try:
        return int(text) if text else None
    except ValueError:
        return None


def read_pairs(path: Path) -> dict[str, int]:
    """Lines of `name number [unit]` or `name: number [unit]`; kB become bytes.  Empty where it cannot be read."""
    pairs = {}
    for line in (read_text(path) or "").splitlines():
        words = line.replace(":", " ").split()
        if len(words) > 1 and words[1].lstrip("-").isdigit():
            pairs[words[0]] = int(words[1]) * (BYTES_PER_KIB if words[-1] == "kB" else 1)
    return pairs


def first_words(data: bytes, names: Iterable[str]) -> dict[str, str]:
    """For each name that begins a line of `data`, followed by a colon or space, the word after it.

    Half the cost of splitting the lines, of which there are many and few are wanted.
    """
    text, found = "\n" + data.decode(errors="replace") + "\n", {}
    for name in names:
        start = text.find("\n" + name)
        while start >= 0:
            after = start + 1 + len(name)
            if text[after] in ": \t":
                words = text[after + 1 : text.index("\n", after)].split(None, 1)
                found.update({name: words[0]} if words else {})
                break
            start = text.find("\n" + name, after)
    return found


def descriptors_to_keep() -> int:
    """How many files this process may keep open for its looks at others."""
    try:
        import resource
    except ImportError:  # Windows, whose limit is far away
        return MOST_KEPT
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_KEPT if limit == resource.RLIM_INFINITY else max(0, min(MOST_KEPT, limit - NOT_FOR_LOOKS))


def is_short_of_descriptors(error: Exception) -> bool:
    """Whether an error says that this process, or the machine, has as many files open as it may."""
    return isinstance(error, OSError) and error.errno in {errno.EMFILE, errno.ENFILE}


class KeptFile:
    """A file of /proc kept open: a read costs a third of opening it again, and never meets a recycled pid."""

    def __init__(self, path: Path | str) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def read(self) -> bytes:
        """The file as it is now.  Raises OSError, ProcessLookupError where the process has ended."""
        return os.pread(self._descriptor, READ_BYTES, 0)

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self._descriptor)


class Stat(NamedTuple):
    """What is used of /proc/PID/stat, or of one thread's; times in seconds since its start."""

    name: str
    state: str
    ppid: int
    major_faults: int
    cpu_s: float
    reaped_cpu_s: float  # of children that ended and were waited for
    threads: int
    started_ticks: int  # since boot; with the pid it names a process for good
    rss_bytes: int


def parse_stat(data: bytes) -> Stat:
    """Parse a stat line; the name may hold spaces and brackets.  Raises ValueError where it is cut short."""
    opening, closing = data.index(b"("), data.rindex(b")")
    fields = data[closing + 2 :].split()
    if len(fields) < 22:  # noqa: PLR2004 - the resident pages are the twenty-second after the name
        message = f"a stat line of {len(fields)} fields"
        raise ValueError(message)
    user, system, reaped_user, reaped_system = (int(field) for field in fields[11:15])
    return Stat(
        name=data[opening + 1 : closing].decode(errors="replace"),
        state=chr(fields[0][0]),
        ppid=int(fields[1]),
        major_faults=int(fields[9]),
        cpu_s=(user + system) / TICKS_PER_S,
        reaped_cpu_s=(reaped_user + reaped_system) / TICKS_PER_S,
        threads=int(fields[17]),
        started_ticks=int(fields[19]),
        rss_bytes=int(fields[21]) * PAGE_BYTES,
    )


class Rarely:
    """Says when a costly look may be taken again: after `every_s`, and never so often that it costs RARE_SHARE."""

    def __init__(self, every_s: float, clock: Callable[[], float] = time.perf_counter) -> None:
        self._every_s = every_s
        self._clock = clock
        self._began_s = 0.0
        self._next_s = float("-inf")

    def due(self) -> bool:
        """Whether to look now; the caller then looks and calls `done`."""
        self._began_s = self._clock()
        return self._began_s >= self._next_s

    def done(self) -> None:
        """Take note of how long the look took since `due` said so."""
        took_s = self._clock() - self._began_s
        self._next_s = self._began_s + max(self._every_s, took_s / RARE_SHARE)
