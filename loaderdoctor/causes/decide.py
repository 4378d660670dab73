"""From every cause's answer to one verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loaderdoctor import predict
from loaderdoctor.causes.base import (
    EXPLAINED,
    FOUND,
    NO_DATA,
    NOT_APPLICABLE,
    RULED_OUT,
    Diagnosis,
    Finding,
    Gain,
    Interval,
    Threshold,
)
from loaderdoctor.causes.engine import answer
from loaderdoctor.causes.gates import MOST_SAVED, STARVES, number
from loaderdoctor.values import Measured, Missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from loaderdoctor.analyse.signals import Signals
    from loaderdoctor.causes.base import Cause

STARVING, HEALTHY, UNKNOWN, NOT_ENOUGH_DATA = "starving", "healthy", "unknown", "not-enough-data"

FEWEST_STEPS = Threshold(20, "steps", "Fewer give no interval that a block of slow steps could not overturn.")
MOST_LOST = Threshold(
    0.05, "share", "What is lost is a stretch of the run, which may wait more, or less, than the rest."
)
TOO_WIDE = (
    2.0  # an interval that goes on past twice, or half, of the threshold on its other side says nothing of either
)
CROWDED = Threshold(0.25, "share", "A quarter of the cores is what a worker or two would have made a difference with.")
EDIT = 10  # settings: what no setting cures asks for an edit of the script, which is a larger change
ELSEWHERE = 20  # and what no edit cures asks for another machine, or for other people's jobs to go
# Asked of any run but a healthy one: they say why it broke, and a run that breaks early has few steps.
WHEN_BROKEN = ("fork-deadlock", "shm-exhausted", "fd-exhausted")
WHEN_HEALTHY = ("over-provisioned", "iterable-duplicates")  # gains of memory and of correctness, not of time


def diagnose_with(causes: Sequence[Cause], signals: Signals) -> Diagnosis:
    """The verdict of these causes over a run."""
    status, reason = status_of(signals)
    answers = [one for cause in causes for one in _answers(cause, signals, status, reason)]
    limits = _limits(causes, status)
    limit = _limit(answers, limits)
    findings = _in_order(_explained([one for one in answers if one.cause not in limits or one.status != FOUND], causes))
    found = [finding for finding in findings if finding.status == FOUND]
    cause = found[0].cause if found and status == STARVING else None
    if status == STARVING:
        limit = cause
        reason = reason if cause else _unexplained(findings, signals)
    prescribed = [(one.loader, one.prescription.settings) for one in found if one.loader and one.prescription]
    return Diagnosis(
        status=status,
        cause=cause,
        limit=limit,
        findings=findings,
        what_if=() if status == NOT_ENOUGH_DATA else predict.what_if(signals, prescribed),
        reason=reason,
        combined_gain=_together(signals, found),
    )


def _limits(causes: Sequence[Cause], status: str) -> dict[str, bool]:
    """Causes that name what limits, by whether a cure is known; beside waits that are worth a cure, that is a fault as well."""
    return {
        cause.id: cause.treat is not None
        for cause in causes
        if cause.is_limit and (cause.treat is None or status != STARVING)
    }


def _limit(answers: Iterable[Finding], limits: Mapping[str, bool]) -> str | None:
    """The largest of those that can be cured, else the first one: the loop's own work is a part of what computes."""
    found = [one for one in answers if one.cause in limits and one.status == FOUND]
    cured = [one for one in found if limits[one.cause]]
    largest = max(cured, key=lambda one: one.step_share.best if one.step_share else 0.0, default=None)
    return largest.cause if largest else next((one.cause for one in found), None)


def status_of(signals: Signals) -> tuple[str, str]:
    """Whether the run starves, and the reason where that cannot be said."""
    steps, share = signals.steps.after_warm_up, signals.starved_share
    if signals.loaders and steps < FEWEST_STEPS.value:
        least = f"{FEWEST_STEPS.value:.0f}"
        return NOT_ENOUGH_DATA, f"Only {steps} steps were recorded after warm-up; a verdict needs {least}."
    if isinstance(share, Missing):
        return UNKNOWN, share.reason
    if signals.lost_share >= MOST_LOST.value:
        return UNKNOWN, (
            f"{signals.lost_share:.0%} of the records of this run could not be written: what is left may be of one part of it."
        )
    starving = share.value >= STARVES.value
    if share.low < STARVES.value / TOO_WIDE if starving else share.high > STARVES.value * TOO_WIDE:
        return UNKNOWN, (
            f"The share of waiting lies between {share.low:.1%} and {share.high:.1%}, which is below and above the "
            f"{STARVES.value:.0%} from which a run starves; more steps would tell."
        )
    return (STARVING if starving else HEALTHY), ""


def _answers(cause: Cause, signals: Signals, status: str, reason: str) -> Iterable[Finding]:
    if not signals.loaders:
        return [Finding(cause.id, NO_DATA, reasons=("No DataLoader was seen.",))]
    asked = signals.loaders if cause.scope == "loader" else signals.loaders[:1]
    if status == NOT_ENOUGH_DATA and cause.id not in WHEN_BROKEN:
        return [Finding(cause.id, NO_DATA, loader=asked[0].id, site=asked[0].site, reasons=(reason,))]
    answers = [answer(cause, signals, loader) for loader in asked]
    if status == UNKNOWN and cause.id not in (*WHEN_HEALTHY, *WHEN_BROKEN):
        return [_not_to_be_said(one, reason) for one in answers]
    if status == HEALTHY and not cause.is_limit and cause.id not in WHEN_HEALTHY:
        return [_nothing_to_gain(one, signals) for one in answers]
    return answers


def _explained(answers: Sequence[Finding], causes: Sequence[Cause]) -> list[Finding]:
    """A found cause takes the place of its symptoms, however large their own gain: they go when it is cured."""
    explains = {cause.id: cause.explains for cause in causes}
    of_symptom = {
        (symptom, one.loader): one.cause
        for one in answers
        if one.status == FOUND
        for symptom in explains.get(one.cause, ())
    }
    return [
        replace(one, status=EXPLAINED, explained_by=_first_of(one.cause, one.loader, of_symptom))
        if one.status == FOUND and (one.cause, one.loader) in of_symptom
        else one
        for one in answers
    ]


def _first_of(symptom: str, loader: str | None, of_symptom: Mapping[tuple[str, str | None], str]) -> str:
    """What explains it; where that is explained itself, what explains that."""
    seen: list[str] = []
    while (symptom, loader) in of_symptom and symptom not in seen:
        seen.append(symptom)
        symptom = of_symptom[symptom, loader]
    return symptom


def _not_to_be_said(one: Finding, reason: str) -> Finding:
    """What a cause of waiting, or a limit, finds stands on the share of waiting: without it, it is no finding."""
    if one.status != FOUND:
        return one
    return Finding(one.cause, NO_DATA, loader=one.loader, site=one.site, reasons=(reason,))


def _nothing_to_gain(one: Finding, signals: Signals) -> Finding:
    """A healthy run has no fault, however odd its settings look."""
    if one.status != FOUND:
        return one
    share = replace(
        number(signals.starved_share, "Waiting for data, of the time after warm-up", STARVES), is_least=True
    )
    return replace(one, status=RULED_OUT, evidence=(share,), step_share=None, gain=None, prescription=None, reasons=())


def _in_order(answers: list[Finding]) -> tuple[Finding, ...]:
    """Found ones first, the most certain gain first, the smaller change of two that gain the same."""
    rank = {FOUND: 0, EXPLAINED: 1, RULED_OUT: 2, NO_DATA: 3, NOT_APPLICABLE: 4}

    def key(one: Finding) -> tuple[int, float, int]:
        certain = one.gain.speedup.low if one.gain else 0.0
        change = one.prescription.settings if one.prescription else {}
        kinds = {action.kind for action in one.prescription.actions} if one.prescription else set()
        return rank[one.status], -round(certain, 2), len(change) or (ELSEWHERE if kinds == {"system"} else EDIT)

    return tuple(sorted(answers, key=key))


def _unexplained(findings: tuple[Finding, ...], signals: Signals) -> str:
    """Says what is known of a wait that no cause explains."""
    text = "The training waits for data, and none of the causes that loaderdoctor knows explains it."
    shown = [evidence for finding in findings if finding.status == RULED_OUT for evidence in finding.evidence]
    no_core = next((evidence.text for evidence in shown if evidence.unit == "cores"), None)
    others = signals.machine.neighbour_allowed_cpu_share
    if isinstance(others, Measured) and others.low >= CROWDED.value:
        text += f" Other programs kept {others.value:.0%} of the usable cores busy: on a quiet machine the answer may differ."
    return f"{text} {no_core}." if no_core else text


def _together(signals: Signals, found: list[Finding]) -> Gain | None:
    """All prescribed changes in one simulation a loader; loaders take turns, so the seconds that they save add up."""
    prescribed = [
        one for one in found if one.prescription and (one.prescription.settings or one.prescription.change.work)
    ]
    if len(prescribed) < 2:  # noqa: PLR2004 - one finding's gain is its own
        return None
    speedups = []
    for loader in signals.loaders:
        change = predict.joined(
            one.prescription.change for one in prescribed if one.loader == loader.id and one.prescription
        )
        workload = predict.workload_of(signals, loader)
        if (change.settings or change.work) and workload is not None:
            speedups.append(predict.speedup(workload, change, predict.elsewhere_s(signals, workload)))

    def whole(parts: list[float]) -> float:
        return 1 / (1 - min(MOST_SAVED, sum(1 - 1 / part for part in parts)))

    low, best, high = (whole([getattr(one, end) for one in speedups]) for end in ("low", "best", "high"))
    return Gain(Interval(low, best, high), "simulated")
