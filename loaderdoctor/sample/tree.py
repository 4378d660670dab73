"""The process tree of the script: itself, and all that it and its children start."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import psutil

from loaderdoctor.sample.procfs import Rarely, Roots, parse_stat

if TYPE_CHECKING:
    from pathlib import Path

# Workers are started by the thread that iterates, nearly always the main one; the other threads' children are looked up
# less often, as a process may have hundreds of threads.
ALL_THREADS_EVERY_S = 5.0
# Without the kernel's list of children every process of the machine has to be looked at.
WHOLE_MACHINE_EVERY_S = 5.0


class ProcessTree:
    """Finds the living processes of a tree; a process once found stays in it when its parent ends first."""

    def __init__(self, root_pid: int, roots: Roots) -> None:
        self._root_pid = root_pid
        self._proc = roots.proc
        self._known: dict[int, int] = {}  # pid -> start time, so that a recycled pid is not taken for the old process
        self._all_threads = Rarely(ALL_THREADS_EVERY_S)
        self._whole_machine = Rarely(WHOLE_MACHINE_EVERY_S)
        self._has_children_lists = (roots.proc / str(root_pid) / "task" / str(root_pid) / "children").exists()

    def pids(self) -> list[int]:
        """Process ids of the living tree, the root first while it lives."""
        return self._listed() if self._has_children_lists else self._searched()

    def _listed(self) -> list[int]:
        every_thread = self._all_threads.due()
        found: dict[int, int] = {}
        queue = [self._root_pid, *self._known]
        while queue:
            pid = queue.pop(0)
            started = self._started(pid)
            if pid in found or started is None or self._known.get(pid, started) != started:
                continue
            found[pid] = started
            queue.extend(self._children(pid, every_thread=every_thread))
        if every_thread:
            self._all_threads.done()
        self._known = found
        return list(found)

    def _started(self, pid: int) -> int | None:
        try:
            stat = parse_stat((self._proc / str(pid) / "stat").read_bytes())
        except (OSError, ValueError):
            return None
        return None if stat.state in "ZX" else stat.started_ticks

    def _children(self, pid: int, *, every_thread: bool) -> list[int]:
        tasks = self._proc / str(pid) / "task"
        threads: list[Path] = [tasks / str(pid)]
        if every_thread:
            with suppress(OSError):
                threads = list(tasks.iterdir())
        children: list[int] = []
        for thread in threads:
            with suppress(OSError):
                children.extend(int(word) for word in (thread / "children").read_bytes().split())
        return children

    def _searched(self) -> list[int]:
        if self._whole_machine.due():
            with suppress(psutil.Error):
                root = psutil.Process(self._root_pid)
                for process in (root, *root.children(recursive=True)):
                    self._known[process.pid] = 0
            self._whole_machine.done()
        self._known = {pid: 0 for pid in self._known if psutil.pid_exists(pid)}
        return list(self._known)
