"""The process tree of the script: itself, and all that it and its children start."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import psutil

from loaderdoctor.sample.procfs import MOST_KEPT, KeptFile, Rarely

if TYPE_CHECKING:
    from loaderdoctor.sample.procfs import Roots

# Workers are started by the thread that iterates, nearly always the main one; the other threads' children are looked up
# less often, as a process may have hundreds of threads.
ALL_THREADS_EVERY_S = 5.0
# Without the kernel's list of children every process of the machine has to be looked at.
WHOLE_MACHINE_EVERY_S = 5.0


class ProcessTree:
    """Finds the living processes of a tree; a process once found stays in it when its parent ends first."""

    def __init__(self, root_pid: int, roots: Roots, most: int = MOST_KEPT) -> None:
        self._most = most  # one descriptor each
        self._root_pid = root_pid
        self._proc = str(roots.proc)
        self._living: dict[int, KeptFile] = {}  # their stat files: reading one fails once its own process has ended
        self._searched_pids: list[int] = []
        self._all_threads = Rarely(ALL_THREADS_EVERY_S)
        self._whole_machine = Rarely(WHOLE_MACHINE_EVERY_S)
        self._has_children_lists = (roots.proc / str(root_pid) / "task" / str(root_pid) / "children").exists()

    def pids(self) -> list[int]:
        """Process ids of the living tree, the root first while it lives; one that ended and is not waited for counts."""
        return self._listed() if self._has_children_lists else self._searched()

    def close(self) -> None:
        """Give all descriptors back."""
        while self._living:
            self._living.popitem()[1].close()

    def _listed(self) -> list[int]:
        every_thread = self._all_threads.due()
        found: dict[int, None] = {}
        queue = [self._root_pid, *self._living]
        while queue and len(found) < self._most:
            pid = queue.pop(0)
            if pid in found or not self._lives(pid):
                continue
            found[pid] = None
            queue.extend(self._children(pid, every_thread=every_thread))
        if every_thread:
            self._all_threads.done()
        return list(found)

    def _lives(self, pid: int) -> bool:
        try:
            if pid not in self._living:
                self._living[pid] = KeptFile(f"{self._proc}/{pid}/stat")
            self._living[pid].read()
        except OSError:
            if ended := self._living.pop(pid, None):
                ended.close()
            return False
        return True

    def _children(self, pid: int, *, every_thread: bool) -> list[int]:
        tasks = f"{self._proc}/{pid}/task"
        threads = [str(pid)]
        if every_thread:
            with suppress(OSError):
                threads = os.listdir(tasks)  # noqa: PTH208 - names are all that is needed, many times a minute
        children: list[int] = []
        for thread in threads:
            with suppress(OSError), open(f"{tasks}/{thread}/children", "rb", buffering=0) as file:  # noqa: PTH123 - the same
                children.extend(int(word) for word in file.read().split())
        return children

    def _searched(self) -> list[int]:
        found = dict.fromkeys(self._searched_pids)
        if self._whole_machine.due():
            with suppress(psutil.Error):
                root = psutil.Process(self._root_pid)
                found.update(dict.fromkeys(process.pid for process in (root, *root.children(recursive=True))))
            self._whole_machine.done()
        self._searched_pids = [pid for pid in found if psutil.pid_exists(pid)]
        return self._searched_pids
