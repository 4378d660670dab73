"""The file systems that the script really reads from, and the disks below them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from loaderdoctor.sample.mounts import Mounts, kind_of, without_home
from loaderdoctor.sample.openfiles import mapped, opened
from loaderdoctor.sample.procfs import Rarely, Roots, read_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loaderdoctor.sample.sampler import Note

LOOK_S = 0.0002  # for open files, each second: as many processes in turn as that allows, one at least
MAPPED_EVERY_S = 5.0  # one process in turn: a process that imported torch has thousands of mappings
SECTOR_BYTES = 512  # of /proc/diskstats, whatever the disk's own sectors are
MILLISECONDS = 1e-3


class DisksSampler:
    """Counts, for each mount, how often a data file on it was seen in use; and reads the counters of its disk."""

    name = "disks"

    def __init__(self, roots: Roots, root_pid: int, run_dir: Path) -> None:
        self._roots = roots
        self._mounts = Mounts(roots, root_pid)
        self._run_dir = str(run_dir)
        self._mapped_rarely = Rarely(MAPPED_EVERY_S)
        self._opened_turn = self._mapped_turn = 0
        self._seen: dict[str, dict[str, Any]] = {}  # folder of the mount -> its entry in the row
        self._refused = False

    def sample(self, pids: Sequence[int]) -> dict[str, Any] | None:
        """Return the mounts seen so far with their counts, and the counters of their disks; None on other systems."""
        if not self._roots.has_proc:
            return None
        self._look_at_opened(pids)
        self._look_at_mapped(pids)
        return {"mounts": list(self._seen.values()), "disks": self._counters()}

    def notes(self) -> list[Note]:
        """Whether the files of the script's processes are hidden from here."""
        if self._refused:
            return [("files-unreadable", "The files that the script's processes hold open cannot be seen from here.")]
        return []

    def _look_at_opened(self, pids: Sequence[int]) -> None:
        until_s = time.perf_counter() + LOOK_S
        for _ in pids:
            self._opened_turn += 1
            self._count(pids[self._opened_turn % len(pids)], "opened")
            if time.perf_counter() > until_s:
                return

    def _look_at_mapped(self, pids: Sequence[int]) -> None:
        if not pids or not self._mapped_rarely.due():
            return
        self._mapped_turn += 1
        self._count(pids[self._mapped_turn % len(pids)], "mapped")
        self._mapped_rarely.done()

    def _count(self, pid: int, how: str) -> None:
        folder = self._roots.proc / str(pid)
        try:
            for path in mapped(folder, self._run_dir) if how == "mapped" else opened(folder, self._run_dir):
                mount = self._mounts.of(path)
                if mount is None:
                    continue
                if mount.folder not in self._seen:
                    self._seen[mount.folder] = {
                        "folder": without_home(mount.folder),
                        "file_system": mount.file_system,
                        "kind": kind_of(mount.file_system),
                        "device": self._mounts.device_of(mount),
                        "opened": 0,
                        "mapped": 0,
                    }
                self._seen[mount.folder][how] += 1
        except PermissionError:
            self._refused = True
        except (OSError, ValueError):
            return  # it ended between being listed and being looked at

    def _counters(self) -> dict[str, dict[str, float]]:
        wanted = {entry["device"] for entry in self._seen.values()} - {None}
        counters: dict[str, dict[str, float]] = {}
        for line in (read_text(self._roots.proc / "diskstats") or "").splitlines() if wanted else ():
            _major, _minor, name, *fields = line.split()
            if name in wanted:
                numbers = [int(field) for field in fields]
                counters[name] = {
                    "reads": numbers[0],
                    "read_bytes": numbers[2] * SECTOR_BYTES,
                    "read_wait_s": numbers[3] * MILLISECONDS,
                    "writes": numbers[4],
                    "written_bytes": numbers[6] * SECTOR_BYTES,
                    "in_flight": numbers[8],
                    "busy_s": numbers[9] * MILLISECONDS,
                    "queued_s": numbers[10] * MILLISECONDS,
                }
        return counters
