"""One stretch of work in a replay."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """Work of one batch on an idle machine, in seconds, and the parts of it that processes compete for."""

    seconds: float
    cpu_share: float
    disk_share: float = 0.0
