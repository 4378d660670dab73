"""What a cause is, and what it may answer: found, ruled-out, no-data or not-applicable."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from loaderdoctor.predict.rows import WhatIf
from loaderdoctor.values import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from loaderdoctor.analyse.signals import LoaderSignals, Signals, Site

__all__ = [
    "CHANGES_ORDER",
    "CHANGES_RESULTS",
    "FOUND",
    "NEEDS_MEMORY",
    "NOT_APPLICABLE",
    "NO_DATA",
    "RULED_OUT",
    "SAFE",
    "Cause",
    "Diagnosis",
    "Evidence",
    "Finding",
    "Gain",
    "Interval",
    "Prescription",
    "Threshold",
    "WhatIf",
]

FOUND, RULED_OUT, NO_DATA, NOT_APPLICABLE = "found", "ruled-out", "no-data", "not-applicable"
SAFE, CHANGES_ORDER, NEEDS_MEMORY, CHANGES_RESULTS = "safe", "changes-order", "needs-memory", "changes-results"


@dataclass(frozen=True)
class Threshold:
    """A limit, its unit, and the sentence that defends it."""

    value: float
    unit: str
    why: str


@dataclass(frozen=True)
class Evidence:
    """One number behind an answer, in words, with the threshold it was held against."""

    text: str
    value: float | None = None
    unit: str = ""
    threshold: float | None = None


@dataclass(frozen=True)
class Gain:
    """How much faster: old time after warm-up over new.  basis: simulated|bound|measured."""

    speedup: Interval
    basis: str


@dataclass(frozen=True)
class Prescription:
    """What to change.  `settings` are DataLoader arguments; `advice` is for what no argument can do."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    advice: str = ""
    memory_bytes: int | None = None
    safety: str = SAFE


@dataclass(frozen=True)
class Finding:
    """A cause's answer about one loader (or about the run, where `loader` is None)."""

    cause: str
    status: str
    loader: str | None = None
    site: Site | None = None
    step_share: Interval | None = None  # the slice of the time after warm-up that it explains
    confidence: str = "medium"  # high|medium|low
    reasons: tuple[str, ...] = ()  # why that sure
    evidence: tuple[Evidence, ...] = ()
    prescription: Prescription | None = None
    gain: Gain | None = None


@dataclass(frozen=True)
class Cause:
    """One cause: its id is its file's name with dashes, and its page lies beside it as .md.

    `needs` are dotted names of signals ("loader.worker_busy_share", "machine.cpus_allowed"); where one is missing the
    engine answers no-data with its reason and does not call `check`.  `scope` is "loader" (asked once a loader) or "run"
    (asked once, about the main loader).
    """

    id: str
    title: str
    needs: tuple[str, ...]
    check: Callable[[Signals, LoaderSignals], Finding]
    scope: str = "loader"
    is_limit: bool = False  # names what limits (gpu-bound, ...): never a finding of a fault


@dataclass(frozen=True)
class Diagnosis:
    """The verdict over a run."""

    status: str  # starving|healthy|unknown|not-enough-data
    cause: str | None
    limit: str | None
    findings: tuple[Finding, ...]  # found ones first, most certain gain first
    what_if: tuple[WhatIf, ...]
    reason: str = ""  # why unknown or not-enough-data, a sentence
    combined_gain: Gain | None = None  # all found prescriptions in one simulation
