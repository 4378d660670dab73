"""Every process of the script's tree: CPU, memory, reads, switches, and what its main thread waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaderdoctor.sample.portable import PortableProcess
from loaderdoctor.sample.procfs import Rarely, Roots, is_short_of_descriptors
from loaderdoctor.sample.watched import WatchedProcess

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loaderdoctor.sample.sampler import Note

DESCRIPTORS = 6  # kept open for a process that is watched, beside the one that the tree keeps
MOST_PROCESSES = 96  # stay below the usual limit of 1024 open files; real trees have a few dozen
# One process in turn: the walk over its page tables stops its page faults meanwhile.
PRIVATE_EVERY_S = 2.0

# In turn where there are more: workers of a large pool are alike, and their observations add up.
MOST_GLANCES = 10

Process = WatchedProcess | PortableProcess


class ProcessesSampler:
    """Watches each process from the first time it is in the tree until it ends."""

    name = "processes"

    def __init__(self, roots: Roots, most: int = MOST_PROCESSES) -> None:
        self._roots = roots
        self._most = most
        self._watched: dict[int, Process] = {}
        self._turns: list[int] = []  # pids, the next to have its private memory measured first
        self._glance_turns: list[Process] = []
        self._private_rarely = Rarely(PRIVATE_EVERY_S)
        self._refused: set[str] = set()
        self._too_many = False

    def glance(self) -> None:
        """Count what main threads do at this moment: of all processes, or of some in turn."""
        if not self._glance_turns:
            self._glance_turns = list(self._watched.values())
        now, self._glance_turns = self._glance_turns[:MOST_GLANCES], self._glance_turns[MOST_GLANCES:]
        for process in now:
            if self._watched.get(process.pid) is not process:
                continue  # it ended since its turn was set
            try:
                process.glance()
            except (OSError, ValueError):
                self._forget(process)

    def sample(self, pids: Sequence[int]) -> dict[str, Any] | None:
        """One row with a list of processes; None while there is none."""
        self._follow(pids)
        self._measure_private()
        rows = []
        for process in list(self._watched.values()):
            try:
                rows.append(process.row())
            except PermissionError:
                self._refused.add("stat")
            except (OSError, ValueError) as error:
                self._too_many |= is_short_of_descriptors(error)
                self._forget(process)
            self._refused.update(name.rpartition("/")[2] for name in process.refused)
        return {"processes": rows} if rows else None

    def notes(self) -> list[Note]:
        """Which files may not be read, and whether there were too many processes."""
        found: list[Note] = []
        if self._refused:
            names = ", ".join(sorted(self._refused))
            found.append(
                ("sample-refused", f"Not readable of a process of the script: {names}; what they tell is left out.")
            )
        if self._too_many:
            why = "" if self._most == MOST_PROCESSES else ": the limit of open files (`ulimit -n`) allows no more"
            text = f"Only the first {self._most} processes of the script were watched{why}."
            found.append(("sample-many-processes", text))
        return found

    def close(self) -> None:
        """Give all descriptors back."""
        for process in list(self._watched.values()):
            self._forget(process)

    def _follow(self, pids: Sequence[int]) -> None:
        for pid in [pid for pid in self._watched if pid not in pids]:
            self._forget(self._watched[pid])
        new = [pid for pid in pids if pid not in self._watched]
        for pid in new:
            if len(self._watched) >= self._most:
                self._too_many = True
                return
            try:
                self._watched[pid] = (
                    WatchedProcess(pid, self._roots.proc) if self._roots.has_proc else PortableProcess(pid)
                )
            except OSError as error:  # it ended between being listed and being looked at, or too many files are open
                self._too_many |= is_short_of_descriptors(error)
                continue
            self._turns.insert(0, pid)

    def _measure_private(self) -> None:
        if not self._turns or not self._private_rarely.due():
            return
        pid = self._turns.pop(0)
        process = self._watched[pid]
        try:
            process.measure_private()
        except (OSError, ValueError):
            self._forget(process)
        else:
            self._turns.append(pid)
        self._private_rarely.done()

    def _forget(self, process: Process) -> None:
        self._watched.pop(process.pid, None)
        if process.pid in self._turns:
            self._turns.remove(process.pid)
        process.close()
