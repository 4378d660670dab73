"""The shared memory file system, through which workers hand their batches over: its size and use."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loaderdoctor.sample.procfs import Roots
    from loaderdoctor.sample.sampler import Note


class ShmSampler:
    """Size and free bytes of the shared memory file system."""

    name = "shm"

    def __init__(self, roots: Roots) -> None:
        self._folder = roots.shm

    def sample(self, pids: Sequence[int]) -> dict[str, Any] | None:  # noqa: ARG002 - asked as every sampler
        """Return sizes now; None where there is no such folder."""
        try:
            status = os.statvfs(self._folder)
        except OSError:
            return None
        return {"size_bytes": status.f_blocks * status.f_frsize, "free_bytes": status.f_bavail * status.f_frsize}

    def notes(self) -> list[Note]:
        """Say nothing: systems without the folder share memory by other means."""
        return []
