"""What a cause is: who it can concern, what must be seen, what cures it; and what comes of asking it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from loaderdoctor.predict import Change
from loaderdoctor.predict.rows import WhatIf
from loaderdoctor.values import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from loaderdoctor.analyse.signals import LoaderSignals, Signals, Site
    from loaderdoctor.predict.measured import Outcome
    from loaderdoctor.values import Value

__all__ = [
    "CHANGES_ORDER",
    "CHANGES_RESULTS",
    "EXPLAINED",
    "FOUND",
    "NEEDS_MEMORY",
    "NOT_APPLICABLE",
    "NO_DATA",
    "RULED_OUT",
    "SAFE",
    "Action",
    "Cause",
    "Change",
    "Diagnosis",
    "Evidence",
    "Finding",
    "Gain",
    "Gate",
    "Interval",
    "Prescription",
    "Signal",
    "Threshold",
    "Treatment",
    "WhatIf",
]

FOUND, EXPLAINED, RULED_OUT, NO_DATA, NOT_APPLICABLE = "found", "explained", "ruled-out", "no-data", "not-applicable"
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
    is_least: bool | None = None  # the cause is found from the threshold on; False: below it; None: not said


@dataclass(frozen=True)
class Gain:
    """How much faster: old time after warm-up over new.  basis: simulated|bound|measured."""

    speedup: Interval
    basis: str


@dataclass(frozen=True)
class Action:
    """One thing to do.  kind: setting|environment|code|system; `site` is where, `example` a few lines of how."""

    kind: str
    text: str
    name: str = ""
    value: Any = None
    site: Site | None = None
    example: str = ""


@dataclass(frozen=True)
class Prescription:
    """What to change.  `settings` are DataLoader arguments; `advice` is for what no argument can do."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    advice: str = ""
    memory_bytes: int | None = None
    safety: str = SAFE
    change: Change = field(default_factory=Change)  # what is replayed; its settings are `settings`
    actions: tuple[Action, ...] = ()


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
    explained_by: str | None = None  # the found cause whose cure cures this one too
    measured: Outcome | None = None  # runs with the prescription and without: then the gain is theirs,
    promised: Gain | None = None  # and this is what it was before


@dataclass(frozen=True)
class Signal:
    """A number to hold against a threshold: a signal by its dotted name, or one that is derived from several.

    `name` is "loader.worker_busy_share", "machine.cpus_allowed", "starved_share", ...; `derive` computes another one.
    """

    name: str
    text: str  # what it says, in words
    derive: Callable[[Signals, LoaderSignals], Value] | None = None


@dataclass(frozen=True)
class Gate:
    """A signal that must reach its bound (or, unless `is_least`, stay below it) for the cause to be found.

    Where the signal is missing there is no data, or, `if_known`, the gate is passed over.
    """

    signal: Signal
    bound: Threshold
    is_least: bool = True
    if_known: bool = False


@dataclass(frozen=True)
class Treatment:
    """What cures a found cause: what to do, what that changes, and what speaks against it.

    The gain is that of the `change`, replayed; `bound` where there is no change, or nothing to replay; `gain` where it needs
    no replay.  `doubts` take from the confidence.  `shows` are further numbers for the finding.
    """

    advice: str
    change: Change | None = None
    bound: Gain | None = None
    gain: Gain | None = None
    actions: tuple[Action, ...] = ()
    safety: str = SAFE
    doubts: tuple[str, ...] = ()
    shows: tuple[Evidence, ...] = ()


@dataclass(frozen=True)
class Cause:
    """One cause: its id is its file's name with dashes, and its page lies beside it as .md.

    Asked in order: `applies` (each gives the sentence why the cause cannot concern this loader, or None), then `gates`,
    then `treat`, whose numbers rule the cause out where nothing cures it.  `scope` is "loader" (asked once a loader) or
    "run" (asked once, about the main loader).  `explains` are causes that go when this one is cured.
    """

    id: str
    title: str
    gates: tuple[Gate, ...] = ()
    treat: Callable[[Signals, LoaderSignals], Treatment | tuple[Evidence, ...]] | None = None  # None: for limits
    applies: tuple[Callable[[Signals, LoaderSignals], str | None], ...] = ()
    shows: tuple[Signal, ...] = ()  # further numbers of the finding, where they are known
    slice: Signal | None = None  # the share of the time that it explains
    explains: tuple[str, ...] = ()
    scope: str = "loader"
    is_limit: bool = (
        False  # names what limits (gpu-bound, ...): no finding of a fault, unless the run starves and it has a cure
    )


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
    treated: tuple[Outcome, ...] = ()  # all that was tried on the run, the latest last
