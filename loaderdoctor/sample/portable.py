"""One process of the tree where there is no /proc: what psutil knows everywhere."""

from __future__ import annotations

from typing import Any

import psutil


class PortableProcess:
    """A living process, its psutil object kept.  Methods raise OSError once it has ended."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.refused: set[str] = set()
        try:
            self._process = psutil.Process(pid)
        except psutil.NoSuchProcess as error:
            raise ProcessLookupError(pid) from error

    def close(self) -> None:
        """Nothing is held."""

    def glance(self) -> None:
        """States are not told apart without /proc: nothing is counted, and analysis says no data."""

    def measure_private(self) -> None:
        """Not asked here: it needs rights over the process that a parent does not have everywhere."""

    def row(self) -> dict[str, Any]:
        """The same keys as the Linux row, those that can be had."""
        try:
            with self._process.oneshot():
                times = self._process.cpu_times()
                return {
                    "pid": self.pid,
                    "started_ticks": int(self._process.create_time() * 100),
                    "ppid": self._process.ppid(),
                    "name": self._process.name(),
                    "cpu_s": times.user + times.system,
                    "reaped_cpu_s": 0.0,
                    "threads": self._process.num_threads(),
                    "rss_bytes": self._process.memory_info().rss,
                }
        except psutil.AccessDenied as error:
            raise PermissionError(self.pid) from error
        except psutil.NoSuchProcess as error:
            raise ProcessLookupError(self.pid) from error
