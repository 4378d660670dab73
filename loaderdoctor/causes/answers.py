"""How causes word what they found or ruled out, so that every answer carries its number and its threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaderdoctor import predict
from loaderdoctor.causes.base import (
    FOUND,
    NOT_APPLICABLE,
    RULED_OUT,
    SAFE,
    Evidence,
    Finding,
    Gain,
    Interval,
    Prescription,
    Threshold,
)
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loaderdoctor.analyse.signals import LoaderSignals, Signals, Workload
    from loaderdoctor.values import Value

STARVES = Threshold(0.05, "share", "Below, no pipeline is worth changing, and two runs of one script differ as much.")
WAITING = Threshold(0.02, "share", "What explains less than this gains less than two runs of one script differ by.")
WORTH = Threshold(1.02, "times", "A smaller speed-up is within the noise of two runs of one script.")
NO_SLOWER = Threshold(1.0, "times", "A change that may as well slow the run down is none to propose.")
MOST_SAVED = 0.99  # of the time: a bound on a wait that is nearly everything is no promise of a hundredfold
SURE = Threshold(1.05, "times", "A pipeline is called starving from this gain on; a low end above it leaves no doubt.")


def number(value: Value, what: str, threshold: Threshold | None = None) -> Evidence:
    """A measured value in words, beside what it was held against."""
    limit = threshold.value if threshold else None
    if isinstance(value, Measured):
        return Evidence(what, value.value, value.unit, limit)
    return Evidence(f"{what}: not known, {value.reason}", threshold=limit)


def known(value: Value) -> float:
    """The number of a signal that the cause declared as needed."""
    if isinstance(value, Measured):
        return value.value
    message = f"a needed signal is missing: {value.reason}"
    raise ValueError(message)


def ruled_out(cause: str, loader: LoaderSignals, *evidence: Evidence) -> Finding:
    """Not this, because of these numbers."""
    return Finding(cause, RULED_OUT, loader=loader.id, site=loader.site, evidence=evidence)


def not_applicable(cause: str, loader: LoaderSignals, reason: str) -> Finding:
    """Cannot be this, however slow the run is."""
    return Finding(cause, NOT_APPLICABLE, loader=loader.id, site=loader.site, reasons=(reason,))


def found(
    cause: str,
    loader: LoaderSignals,
    *evidence: Evidence,
    step_share: Interval | None = None,
    gain: Gain | None = None,
    prescription: Prescription | None = None,
    doubts: tuple[str, ...] = (),
) -> Finding:
    """This, with what to change and what that gains; each doubt takes from the confidence."""
    confidence, reasons = _confidence(gain, doubts)
    return Finding(
        cause,
        FOUND,
        loader=loader.id,
        site=loader.site,
        step_share=step_share,
        confidence=confidence,
        reasons=reasons,
        evidence=evidence,
        prescription=prescription,
        gain=gain,
    )


def waits_too_little(cause: str, loader: LoaderSignals) -> Finding | None:
    """The answer of every cause of waiting where this loader is hardly waited for."""
    if known(loader.exposed_wait_share) >= WAITING.value:
        return None
    return ruled_out(cause, loader, number(loader.exposed_wait_share, "Waiting for this loader", WAITING))


def share_of(value: Value) -> Interval | None:
    """The slice of the time that a signal stands for."""
    return Interval.of(value) if isinstance(value, Measured) else None


def simulated(signals: Signals, workload: Workload, settings: Mapping[str, Any]) -> Gain:
    """The gain of other settings, replayed."""
    return Gain(predict.speedup(workload, settings, predict.elsewhere_s(signals, workload)), "simulated")


def bound(saved: float, at_least: float = 0.0) -> Gain:
    """The gain of saving a share of the time, of which `at_least` is certain; the truth lies between the two."""
    low, high = 1 / (1 - min(at_least, MOST_SAVED)), 1 / (1 - min(saved, MOST_SAVED))
    return Gain(Interval(low, (low + high) / 2, high), "bound")


def counted(workers: int) -> str:
    """So many workers, in words."""
    return "1 worker" if workers == 1 else f"{workers} workers"


def is_worth(gain: Gain) -> bool:
    """Whether a replayed change is one to propose."""
    return gain.speedup.best >= WORTH.value and gain.speedup.low >= NO_SLOWER.value


def predicted(gain: Gain, workers: int) -> Evidence:
    """What the replay says of so many workers: the number that speaks against them, where one does."""
    replayed = f"Replayed with {counted(workers)}"
    if gain.speedup.best >= WORTH.value and gain.speedup.low < NO_SLOWER.value:
        return Evidence(f"{replayed}, at the low end", gain.speedup.low, "times as fast", NO_SLOWER.value)
    return Evidence(replayed, gain.speedup.best, "times as fast", WORTH.value)


def prescribe(workload: Workload | None, settings: Mapping[str, Any], advice: str, safety: str = SAFE) -> Prescription:
    """Settings with the memory that they take more than today's; negative where they free some."""
    change = None
    if workload is not None and settings:
        then, now = predict.memory_bytes(workload, settings), predict.memory_bytes(workload, {})
        change = then - now if then is not None and now is not None else None
    return Prescription(settings=settings, advice=advice, memory_bytes=change, safety=safety)


def _confidence(gain: Gain | None, doubts: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    reasons = list(doubts)
    if gain is not None and gain.basis == "simulated":
        reasons.append(
            "The recorded batches were replayed with the change, and the interval holds the replay's own error."
        )
    else:
        reasons.append("The gain is a bound by what was measured, not a replay.")
    certain = gain is not None and gain.speedup.low >= SURE.value
    if certain and gain is not None and gain.basis == "simulated" and not doubts:
        return "high", tuple(reasons)
    return ("medium" if certain or not doubts else "low"), tuple(reasons)
