"""Asks one cause about one loader: the same for all of them, so that every answer carries its number and its threshold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loaderdoctor import predict
from loaderdoctor.causes.base import (
    FOUND,
    NO_DATA,
    NOT_APPLICABLE,
    RULED_OUT,
    Change,
    Evidence,
    Finding,
    Gain,
    Prescription,
    Treatment,
)
from loaderdoctor.causes.gates import EXPOSED_WAIT, NO_SLOWER, SURE, WORTH, counted, number, value_of
from loaderdoctor.values import Interval, Measured, Missing

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals, Workload
    from loaderdoctor.causes.base import Cause, Gate
    from loaderdoctor.values import Value

ABSENT_BY_NATURE = (
    "no-device",
    "no-workers",
    "no-pinning",
)  # missing because the thing itself is: the cause cannot apply
BY_REPLAY = "The recorded batches were replayed with the change, and the interval holds the replay's own error."
BY_BOUND = "The gain is a bound by what was measured, not a replay."
NEAR = "It is near its threshold: another run may lie on the other side."


def answer(cause: Cause, signals: Signals, loader: LoaderSignals) -> Finding:
    """The cause's answer about this loader; a cause that fails answers that it did."""
    try:
        return _answer(cause, signals, loader)
    except Exception as error:  # noqa: BLE001 - one cause that fails must not cost the verdict of the others
        why = f"This cause failed, which is a fault of loaderdoctor: {type(error).__name__}: {error}"
        return _about(cause, NO_DATA, loader, reasons=(why,))


def _answer(cause: Cause, signals: Signals, loader: LoaderSignals) -> Finding:
    for applies in cause.applies:
        reason = applies(signals, loader)
        if reason is not None:
            return _about(cause, NOT_APPLICABLE, loader, reasons=(reason,))
    evidence: list[Evidence] = []
    doubts: list[str] = []
    for gate in cause.gates:
        value = value_of(gate.signal, signals, loader)
        if isinstance(value, Missing):
            if gate.if_known:
                continue
            status = NOT_APPLICABLE if value.slug in ABSENT_BY_NATURE else NO_DATA
            return _about(cause, status, loader, reasons=(value.reason,))
        shown = replace(number(value, gate.signal.text, gate.bound), is_least=gate.is_least)
        if not _passes(gate, value):
            return _about(cause, RULED_OUT, loader, evidence=(shown, *evidence))
        evidence.append(shown)
        if _is_near(gate, value):
            doubts.append(f"{gate.signal.text}: {NEAR[0].lower()}{NEAR[1:]}")
    treatment = Treatment("") if cause.treat is None else cause.treat(signals, loader)
    if not isinstance(treatment, Treatment):
        return _about(cause, RULED_OUT, loader, evidence=(*treatment, *evidence))
    evidence += [number(value_of(one, signals, loader), one.text) for one in cause.shows]
    return _found(cause, signals, loader, treatment, (evidence, doubts))


def _about(
    cause: Cause,
    status: str,
    loader: LoaderSignals,
    *,
    evidence: tuple[Evidence, ...] = (),
    reasons: tuple[str, ...] = (),
) -> Finding:
    return Finding(cause.id, status, loader=loader.id, site=loader.site, evidence=evidence, reasons=reasons)


def _passes(gate: Gate, value: Measured) -> bool:
    reached = value.value >= gate.bound.value
    return reached if gate.is_least else not reached


def _is_near(gate: Gate, value: Measured) -> bool:
    return (value.low < gate.bound.value) if gate.is_least else (value.high >= gate.bound.value)


def _found(
    cause: Cause,
    signals: Signals,
    loader: LoaderSignals,
    treatment: Treatment,
    seen: tuple[list[Evidence], list[str]],  # numbers, and doubts
) -> Finding:
    evidence, doubts = seen
    workload = predict.workload_of(signals, loader)
    gain = treatment.gain or treatment.bound
    if treatment.change is not None and workload is not None and treatment.gain is None:
        gain = simulated(signals, workload, treatment.change)
        if not is_worth(gain):
            return _about(cause, RULED_OUT, loader, evidence=(predicted(gain, treatment.change), *evidence))
    elif treatment.change is not None and gain is None:
        return _about(cause, NO_DATA, loader, reasons=("No batch of this loader was recorded as it was made.",))
    confidence, reasons = _confidence(gain, (*treatment.doubts, *doubts))
    part = value_of(cause.slice or EXPOSED_WAIT, signals, loader)
    return Finding(
        cause.id,
        FOUND,
        loader=loader.id,
        site=loader.site,
        step_share=_interval(part),
        confidence=confidence,
        reasons=reasons,
        evidence=(*treatment.shows, *evidence),
        prescription=_prescription(treatment, workload) if cause.treat is not None else None,
        gain=gain,
    )


def simulated(signals: Signals, workload: Workload, change: Change) -> Gain:
    """The gain of a change, replayed."""
    return Gain(predict.speedup(workload, change, predict.elsewhere_s(signals, workload)), "simulated")


def is_worth(gain: Gain) -> bool:
    """Whether a replayed change is one to propose."""
    return gain.speedup.best >= WORTH.value and gain.speedup.low >= NO_SLOWER.value


def predicted(gain: Gain, change: Change) -> Evidence:
    """What the replay says of a change: the number that speaks against it, where one does."""
    workers = change.settings.get("num_workers")
    replayed = f"Replayed with {counted(workers)}" if workers is not None else "Replayed with the cure"
    if gain.speedup.best >= WORTH.value and gain.speedup.low < NO_SLOWER.value:
        return Evidence(
            f"{replayed}, at the low end", gain.speedup.low, "times as fast", NO_SLOWER.value, is_least=True
        )
    return Evidence(replayed, gain.speedup.best, "times as fast", WORTH.value, is_least=True)


def _interval(value: Value) -> Interval | None:
    return Interval.of(value) if isinstance(value, Measured) else None


def _prescription(treatment: Treatment, workload: Workload | None) -> Prescription:
    """With the memory that its settings take more than today's; negative where they free some."""
    change = treatment.change or Change()
    price = None
    if workload is not None and change.settings:
        then, now = predict.memory_bytes(workload, change.settings), predict.memory_bytes(workload, {})
        price = then - now if then is not None and now is not None else None
    return Prescription(
        settings=change.settings,
        advice=treatment.advice,
        memory_bytes=price,
        safety=treatment.safety,
        change=change,
        actions=treatment.actions,
    )


def _confidence(gain: Gain | None, doubts: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    is_replayed = gain is not None and gain.basis == "simulated"
    reasons = (*doubts, BY_REPLAY if is_replayed else BY_BOUND)
    certain = gain is not None and gain.speedup.low >= SURE.value
    if certain and is_replayed and not doubts:
        return "high", reasons
    return ("medium" if certain or not doubts else "low"), reasons
