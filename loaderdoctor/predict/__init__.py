"""Replays the recorded work under other settings: what they would gain, and what memory they would take."""

from __future__ import annotations

from loaderdoctor.predict.change import Change, joined, part_scaled
from loaderdoctor.predict.costs import memory_bytes
from loaderdoctor.predict.model import Outcome
from loaderdoctor.predict.rows import WhatIf
from loaderdoctor.predict.speedup import MODEL_ERROR, fewest_workers, recorded_s, replay, speedup
from loaderdoctor.predict.table import elsewhere_s, what_if, workload_of

__all__ = [
    "MODEL_ERROR",
    "Change",
    "Outcome",
    "WhatIf",
    "elsewhere_s",
    "fewest_workers",
    "joined",
    "memory_bytes",
    "part_scaled",
    "recorded_s",
    "replay",
    "speedup",
    "what_if",
    "workload_of",
]
