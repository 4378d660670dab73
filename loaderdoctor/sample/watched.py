"""One process of the tree, watched through files kept open from the first time it was seen."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from loaderdoctor.sample.procfs import BYTES_PER_KIB, KeptFile, Rarely, first_words, parse_stat
from loaderdoctor.sample.waits import kind_of_wait

if TYPE_CHECKING:
    from pathlib import Path

# Thread names, switches, affinity: counters add up between looks, so that a rare one loses only threads that ended.
DETAILS_EVERY_S = 5.0
NANOSECONDS = 1e-9

_STATUS_NUMBERS = {
    "RssAnon": ("anonymous_bytes", BYTES_PER_KIB),
    "VmSwap": ("swapped_bytes", BYTES_PER_KIB),
    "voluntary_ctxt_switches": ("voluntary_switches", 1),
    "nonvoluntary_ctxt_switches": ("involuntary_switches", 1),
}
_IO_NUMBERS = {"rchar": "read_chars", "read_bytes": "read_bytes"}
_NUMBERED_NAME = re.compile(r"[-_#/:.]?\d+$")  # pt_autograd_0, pt_autograd_1: one name


class WatchedProcess:
    """A living process.  Every method raises OSError once it has ended."""

    def __init__(self, pid: int, proc: Path) -> None:
        self.pid = pid
        self.refused: set[str] = set()  # names of files that may not be read
        self._folder = proc / str(pid)
        self._files: dict[str, KeptFile | None] = {}
        self._waits: dict[str, int] = {}
        self._details_rarely = Rarely(DETAILS_EVERY_S)
        self._private_bytes: int | None = None
        self._read("stat")  # a process that ended before it could be watched shows now

    def close(self) -> None:
        """Give all descriptors back."""
        for file in self._files.values():
            if file is not None:
                file.close()
        self._files.clear()

    def glance(self) -> None:
        """Count what the main thread does at this moment."""
        line = self._read(f"task/{self.pid}/stat")
        if line is None:
            return
        after_name = line.rindex(b")") + 2
        state = chr(line[after_name])
        function = (self._read("wchan") or b"").decode(errors="replace") if state in "SD" else ""
        kind = kind_of_wait(state, function)
        self._waits[kind] = self._waits.get(kind, 0) + 1

    def row(self) -> dict[str, Any]:
        """Counters since the process began and sizes now; a key that was not looked at or may not be read is absent."""
        stat = parse_stat(self._read("stat") or b"")
        row: dict[str, Any] = {
            "pid": self.pid,
            "started_ticks": stat.started_ticks,
            "ppid": stat.ppid,
            "name": stat.name,
            "cpu_s": stat.cpu_s,
            "reaped_cpu_s": stat.reaped_cpu_s,
            "major_faults": stat.major_faults,
            "threads": stat.threads,
            "rss_bytes": stat.rss_bytes,
        }
        row.update(self._input())
        row.update(self._schedule())
        if self._waits:
            row["waits"] = dict(self._waits)
        if self._details_rarely.due():
            row.update(self._status())
            row["thread_cpu_s"] = self._threads()
            row.update(self._descriptors())
            self._details_rarely.done()
        if self._private_bytes is not None:
            row["private_bytes"] = self._private_bytes
            self._private_bytes = None  # said once: an old number would pass for a constant one
        return row

    def measure_private(self) -> None:
        """Walk the page tables for the memory that is this process' alone; goes into the next row."""
        private = 0
        try:
            text = (self._folder / "smaps_rollup").read_bytes()  # not kept open: that would keep the memory too
        except (PermissionError, FileNotFoundError):
            if self._folder.exists():
                self.refused.add("smaps_rollup")
            return
        for line in text.splitlines():
            if line.startswith((b"Private_Clean:", b"Private_Dirty:")):
                private += int(line.split()[1]) * BYTES_PER_KIB
        self._private_bytes = private

    def _read(self, name: str) -> bytes | None:
        if name not in self._files:
            try:
                self._files[name] = KeptFile(self._folder / name)
            except FileNotFoundError:
                if not self._folder.exists():
                    raise
                self._files[name] = None  # this kernel has no such file
            except PermissionError:
                self._refuse(name)
        file = self._files[name]
        try:
            return file.read() if file else None
        except PermissionError:  # some files open for everybody and are refused only when read
            self._refuse(name)
            return None

    def _refuse(self, name: str) -> None:
        self.refused.add(name)
        file = self._files.get(name)
        if file is not None:
            file.close()
        self._files[name] = None

    def _status(self) -> dict[str, Any]:
        words = first_words(self._read("status") or b"", (*_STATUS_NUMBERS, "Cpus_allowed_list"))
        allowed = words.pop("Cpus_allowed_list", None)
        found: dict[str, Any] = {} if allowed is None else {"cpus_allowed_list": allowed}
        for name, word in words.items():
            key, unit = _STATUS_NUMBERS[name]
            found[key] = int(word) * unit
        return found

    def _input(self) -> dict[str, int]:
        words = first_words(self._read("io") or b"", _IO_NUMBERS)
        return {_IO_NUMBERS[name]: int(word) for name, word in words.items()}

    def _schedule(self) -> dict[str, float]:
        """CPU time and time in the run queue of the main thread: /proc/PID/schedstat leaves the others out."""
        numbers = (self._read("schedstat") or b"").split()
        if len(numbers) < 2 or numbers[:2] == [b"0", b"0"]:  # noqa: PLR2004 - a kernel without accounting says 0 0 0
            return {}
        return {
            "main_thread_cpu_s": round(int(numbers[0]) * NANOSECONDS, 6),
            "main_thread_run_queue_s": round(int(numbers[1]) * NANOSECONDS, 6),
        }

    def _descriptors(self) -> dict[str, int]:
        """How many files, pipes and shared pieces of memory it has open."""
        with suppress(OSError):
            return {"descriptors": len(os.listdir(self._folder / "fd"))}  # noqa: PTH208 - counted, not used as paths
        return {}

    def _threads(self) -> dict[str, float]:
        seconds: dict[str, float] = {}
        for thread in (self._folder / "task").iterdir():
            with suppress(OSError, ValueError):
                stat = parse_stat((thread / "stat").read_bytes())
                name = _NUMBERED_NAME.sub("", stat.name)
                seconds[name] = seconds.get(name, 0.0) + stat.cpu_s
        return {name: round(value, 2) for name, value in seconds.items()}
