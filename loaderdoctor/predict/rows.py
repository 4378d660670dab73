"""A row of the what-if table: one simulated change of settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loaderdoctor.values import Interval


@dataclass(frozen=True)
class WhatIf:
    """One simulated change of settings: only what differs from the script as written."""

    loader: str
    settings: Mapping[str, Any]
    speedup: Interval
    memory_bytes: int | None
    choice: tuple[str, ...] = ()  # "best": the fastest that memory allows; "leanest": least memory within 2 % of it
