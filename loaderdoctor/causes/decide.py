"""From every cause's answer to one verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loaderdoctor import predict
from loaderdoctor.causes.answers import MOST_SAVED, STARVES, number
from loaderdoctor.causes.base import (
    FOUND,
    NO_DATA,
    NOT_APPLICABLE,
    RULED_OUT,
    Cause,
    Diagnosis,
    Finding,
    Gain,
    Interval,
    Threshold,
)
from loaderdoctor.values import Measured, Missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from loaderdoctor.analyse.signals import LoaderSignals, Signals

STARVING, HEALTHY, UNKNOWN, NOT_ENOUGH_DATA = "starving", "healthy", "unknown", "not-enough-data"

FEWEST_STEPS = Threshold(20, "steps", "Fewer give no interval that a block of slow steps could not overturn.")
TOO_WIDE = (
    2.0  # an interval that goes on past twice, or half, of the threshold on its other side says nothing of either
)
CROWDED = Threshold(0.25, "share", "A quarter of the cores is what a worker or two would have made a difference with.")
EDIT = 10  # settings: what no setting cures asks for an edit of the script, which is a larger change
WHEN_HEALTHY = ("over-provisioned", "iterable-duplicates")  # gains of memory and of correctness, not of time
ABSENT_BY_NATURE = (
    "no-device",
    "no-workers",
    "no-pinning",
)  # missing because the thing itself is: the cause cannot apply


def diagnose_with(causes: Sequence[Cause], signals: Signals) -> Diagnosis:
    """The verdict of these causes over a run."""
    status, reason = status_of(signals)
    answers = [answer for cause in causes for answer in _answers(cause, signals, status, reason)]
    limits = {cause.id for cause in causes if cause.is_limit}
    limit = next((answer.cause for answer in answers if answer.cause in limits and answer.status == FOUND), None)
    findings = _in_order([answer for answer in answers if answer.cause not in limits or answer.status != FOUND])
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


def status_of(signals: Signals) -> tuple[str, str]:
    """Whether the run starves, and the reason where that cannot be said."""
    steps, share = signals.steps.after_warm_up, signals.starved_share
    if signals.loaders and steps < FEWEST_STEPS.value:
        least = f"{FEWEST_STEPS.value:.0f}"
        return NOT_ENOUGH_DATA, f"Only {steps} steps were recorded after warm-up; a verdict needs {least}."
    if isinstance(share, Missing):
        return UNKNOWN, share.reason
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
    if status == NOT_ENOUGH_DATA:
        return [Finding(cause.id, NO_DATA, loader=asked[0].id, site=asked[0].site, reasons=(reason,))]
    answers = [_answer(cause, signals, loader) for loader in asked]
    if status == UNKNOWN and cause.id not in WHEN_HEALTHY:
        return [_not_to_be_said(answer, reason) for answer in answers]
    if status == HEALTHY and not cause.is_limit and cause.id not in WHEN_HEALTHY:
        return [_nothing_to_gain(answer, signals) for answer in answers]
    return answers


def _answer(cause: Cause, signals: Signals, loader: LoaderSignals) -> Finding:
    if not loader.settings.torch_loader and "loader.workload" in cause.needs:
        why = f"{loader.settings.loader_type} is not torch's DataLoader: its settings are its own."
        return Finding(cause.id, NOT_APPLICABLE, loader=loader.id, site=loader.site, reasons=(why,))
    for need in cause.needs:
        value = _signal(need, signals, loader)
        if isinstance(value, Missing):
            status = NOT_APPLICABLE if value.slug in ABSENT_BY_NATURE else NO_DATA
            return Finding(cause.id, status, loader=loader.id, site=loader.site, reasons=(value.reason,))
    try:
        return cause.check(signals, loader)
    except Exception as error:  # noqa: BLE001 - one cause that fails must not cost the verdict of the others
        why = f"This cause failed, which is a fault of loaderdoctor: {type(error).__name__}: {error}"
        return Finding(cause.id, NO_DATA, loader=loader.id, site=loader.site, reasons=(why,))


def _signal(need: str, signals: Signals, loader: LoaderSignals) -> object:
    """The signal with this dotted name; what was not recorded at all counts as missing."""
    owner, _, name = need.rpartition(".")
    value = getattr(loader if owner == "loader" else getattr(signals, owner) if owner else signals, name)
    return Missing("not-recorded", f"There is no record of {name.replace('_', ' ')}.") if value is None else value


def _not_to_be_said(answer: Finding, reason: str) -> Finding:
    """What a cause of waiting, or a limit, finds stands on the share of waiting: without it, it is no finding."""
    if answer.status != FOUND:
        return answer
    return Finding(answer.cause, NO_DATA, loader=answer.loader, site=answer.site, reasons=(reason,))


def _nothing_to_gain(answer: Finding, signals: Signals) -> Finding:
    """A healthy run has no fault, however odd its settings look."""
    if answer.status != FOUND:
        return answer
    share = number(signals.starved_share, "Waiting for data, of the time after warm-up", STARVES)
    return replace(
        answer, status=RULED_OUT, evidence=(share,), step_share=None, gain=None, prescription=None, reasons=()
    )


def _in_order(answers: list[Finding]) -> tuple[Finding, ...]:
    """Found ones first, the most certain gain first, the smaller change of two that gain the same."""
    rank = {FOUND: 0, RULED_OUT: 1, NO_DATA: 2, NOT_APPLICABLE: 3}

    def key(answer: Finding) -> tuple[int, float, int]:
        certain = answer.gain.speedup.low if answer.gain else 0.0
        change = answer.prescription.settings if answer.prescription else {}
        return rank[answer.status], -round(certain, 2), len(change) or EDIT

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
    """All prescribed settings in one simulation a loader; loaders take turns, so the seconds that they save add up."""
    prescribed = [finding for finding in found if finding.prescription and finding.prescription.settings]
    if len(prescribed) < 2:  # noqa: PLR2004 - one finding's gain is its own
        return None
    speedups = []
    for loader in signals.loaders:
        settings = {
            name: value
            for finding in reversed(prescribed)
            if finding.loader == loader.id and finding.prescription
            for name, value in finding.prescription.settings.items()
        }
        workload = predict.workload_of(signals, loader)
        if settings and workload is not None:
            speedups.append(predict.speedup(workload, settings, predict.elsewhere_s(signals, workload)))

    def whole(parts: list[float]) -> float:
        return 1 / (1 - min(MOST_SAVED, sum(1 - 1 / part for part in parts)))

    low, best, high = (whole([getattr(one, end) for one in speedups]) for end in ("low", "best", "high"))
    return Gain(Interval(low, best, high), "simulated")
