"""What is to be tried on a run: what its report prescribes, or what somebody asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from loaderdoctor import predict
from loaderdoctor.causes.base import FOUND
from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.predict import Change
from loaderdoctor.treat.settings import REPLAYED, checked, refuse_foreign
from loaderdoctor.values import Interval, Measured

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.causes.base import Diagnosis, Finding

_NOT_ARGUMENTS = frozenset({"code", "system"})  # kinds of actions that no run can be given from outside


@dataclass(frozen=True)
class Remedy:
    """Settings of one loader, and variables of the environment, to run the script with.

    `promised` is the speed-up that was predicted for just that; None where none was.  `cause` is the finding's that
    prescribes it, `left_out` what it prescribes besides that only a person can do.  `is_ceiling`: no remedy, but the perfect
    loader, which has one batch ready at all times.
    """

    loader: LoaderSignals
    settings: Mapping[str, Any] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    promised: Interval | None = None
    cause: str | None = None
    left_out: tuple[str, ...] = ()
    is_ceiling: bool = False


def prescribed(signals: Signals, diagnosis: Diagnosis) -> Remedy:
    """What the first finding prescribes that can be tried: settings, variables.  LoaderDoctorError `nothing-to-try`."""
    for finding in diagnosis.findings:
        loader = _loader_of(signals, finding)
        if finding.status != FOUND or loader is None or not is_tried(finding):
            continue
        prescription = finding.prescription
        assert prescription is not None  # noqa: S101 - is_tried has seen one
        left_out = tuple(action.text for action in prescription.actions if action.kind in _NOT_ARGUMENTS)
        is_whole = not left_out or not (prescription.change.work or prescription.change.lifts)
        whole_gain = finding.gain.speedup if finding.gain is not None else None
        return Remedy(
            loader=loader,
            settings=dict(prescription.settings),
            variables=variables_of(finding),
            promised=whole_gain if is_whole else _replayed(signals, loader, prescription.settings),
            cause=finding.cause,
            left_out=left_out,
        )
    raise LoaderDoctorError("nothing-to-try", _nothing(diagnosis))


def asked_for(signals: Signals, diagnosis: Diagnosis, words: Sequence[str], loader_id: str | None = None) -> Remedy:
    """What `--set` says, each of `words` like "num_workers=4", for a loader: the one named, or the one that is prescribed for.

    LoaderDoctorError where there is no such loader, or where the settings cannot be its own (`settings.checked`).
    """
    loader = _named(signals, loader_id) if loader_id is not None else _most_wanted(signals, diagnosis)
    settings = checked(words, loader.settings, has_device=signals.device.kind != "cpu")
    return Remedy(loader=loader, settings=settings, promised=_replayed(signals, loader, settings))


def ceiling(signals: Signals, diagnosis: Diagnosis, loader_id: str | None = None) -> Remedy:
    """The perfect loader in the place of the one named, or of the one that is prescribed for: no work, no workers.

    LoaderDoctorError `loader-unknown`, `nothing-to-try` or `setting-refused`.
    """
    loader = _named(signals, loader_id) if loader_id is not None else _most_wanted(signals, diagnosis)
    refuse_foreign(loader.settings)
    if loader.settings.dataset_kind == "iterable":
        sentence = "A stream ends where its data does: with one batch kept, its epochs would have no end."
        raise LoaderDoctorError("setting-refused", sentence)
    settings = {"num_workers": 0} if loader.settings.num_workers else {}
    return Remedy(loader=loader, settings=settings, promised=_without_waiting(signals), is_ceiling=True)


def _without_waiting(signals: Signals) -> Interval | None:
    """What the starved share says that a perfect loader gains; None where it is the share of several loaders."""
    share = signals.starved_share
    if not isinstance(share, Measured) or share.high >= 1 or len(signals.loaders) > 1:
        return None
    return Interval(*(1 / (1 - max(0.0, one)) for one in (share.low, share.value, share.high)))


def is_tried(finding: Finding) -> bool:
    """Whether a finding prescribes anything that a run can be given from outside."""
    return finding.prescription is not None and bool(finding.prescription.settings or variables_of(finding))


def variables_of(finding: Finding) -> dict[str, str]:
    """The variables of the environment that a finding prescribes."""
    actions = finding.prescription.actions if finding.prescription else ()
    return {action.name: str(action.value) for action in actions if action.kind == "environment" and action.name}


def _loader_of(signals: Signals, finding: Finding) -> LoaderSignals | None:
    if finding.loader is None:
        return signals.main
    return next((loader for loader in signals.loaders if loader.id == finding.loader), None)


def _replayed(signals: Signals, loader: LoaderSignals, settings: Mapping[str, Any]) -> Interval | None:
    """What a replay promises of these settings alone; None where there is nothing to replay, or it knows none of them."""
    workload = predict.workload_of(signals, loader)
    if workload is None or not settings or not set(settings) <= REPLAYED:
        return None
    return predict.speedup(workload, Change(settings), predict.elsewhere_s(signals, workload))


def _nothing(diagnosis: Diagnosis) -> str:
    found = [finding for finding in diagnosis.findings if finding.status == FOUND]
    why = (
        "What the report prescribes is an edit that only a person can make"
        if found
        else "The report prescribes nothing"
    )
    return f"{why}: say with `--set num_workers=4` and the like what to try."


def _named(signals: Signals, loader_id: str) -> LoaderSignals:
    for loader in signals.loaders:
        if loader.id == loader_id:
            return loader
    ids = ", ".join(loader.id for loader in signals.loaders) or "none"
    raise LoaderDoctorError("loader-unknown", f"The run has no loader {loader_id}; it has {ids}.")


def _most_wanted(signals: Signals, diagnosis: Diagnosis) -> LoaderSignals:
    found = [_loader_of(signals, finding) for finding in diagnosis.findings if finding.status == FOUND]
    loader = next((one for one in found if one is not None), signals.main)
    if loader is None:
        raise LoaderDoctorError("nothing-to-try", "The run has no loader whose settings could be tried.")
    return loader
