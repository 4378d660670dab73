"""The verdict in one sentence, the same in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import FOUND
from loaderdoctor.report import figures
from loaderdoctor.report.spells import changed
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.causes.base import Diagnosis, Finding
    from loaderdoctor.report.words import Words

LEAST_PART, LEAST_OF_IT = 0.01, 0.05  # of the time, and of the share: less of the one or the other is not named
NAMED_IN_HEADLINE = 0.2  # of the share; fewer copies stand below it, among the numbers
_GPUS = frozenset({"cuda", "hip", "xpu", "mps"})


def headline(signals: Signals, diagnosis: Diagnosis, words: Words) -> str:
    """Say who waits, how much, and why, and when that changed; what was not measured is not said."""
    return " ".join(filter(None, (_verdict(signals, diagnosis, words), changed(signals, words))))


def _verdict(signals: Signals, diagnosis: Diagnosis, words: Words) -> str:
    if diagnosis.status == "starving" and isinstance(signals.starved_share, Measured):
        return _starving(signals, diagnosis, words)
    if diagnosis.status == "healthy" and isinstance(signals.starved_share, Measured):
        return _healthy(signals, diagnosis, words)
    if diagnosis.status == "not-enough-data" and signals.loaders:
        return words("headline.not-enough-data", steps=words.count("step", signals.steps.after_warm_up))
    if not signals.loaders:
        return words("headline.no-loader")
    return words("headline.unknown", subject=subject(signals, words))


def subject(signals: Signals, words: Words) -> str:
    """Who waits: a device only where a device's own clock was read."""
    if signals.clock != "device":
        return words("subject.step")
    return words("subject.gpu" if signals.device.kind in _GPUS else "subject.device")


def waits(signals: Signals, words: Words) -> str:
    """How much it waits, and for what: batches, their copies, or both."""
    kind, wait, copy = split_of(signals)
    kind = "data" if kind == "both" and copy < NAMED_IN_HEADLINE * (wait + copy) else kind
    return words(f"waits.{kind}", share=_share(signals), wait=figures.share(wait), copy=figures.share(copy))


def split_of(signals: Signals) -> tuple[str, float, float]:
    """What the starved share consists of, and both parts of it: (data|copies|both, waiting, copying)."""
    share, copies = signals.starved_share, signals.device.copy_share
    if not isinstance(share, Measured) or not isinstance(copies, Measured):
        return "data", 0.0, 0.0
    copy = min(share.value, copies.value)
    wait = share.value - copy
    if not copy >= max(LEAST_PART, LEAST_OF_IT * share.value):
        return "data", wait, copy
    return ("both" if wait >= max(LEAST_PART, LEAST_OF_IT * share.value) else "copies"), wait, copy


def first_finding(diagnosis: Diagnosis) -> Finding | None:
    """Give the finding that the verdict is about; None where nothing was found."""
    return next((finding for finding in diagnosis.findings if finding.status == FOUND), None)


def loader_of(signals: Signals, finding: Finding | None) -> LoaderSignals | None:
    """Give the loader that a finding is about, the main one where it names none."""
    if finding is not None and finding.loader is not None:
        return next((loader for loader in signals.loaders if loader.id == finding.loader), signals.main)
    return signals.main


def cause_in_words(cause: str, signals: Signals, loader: LoaderSignals | None, words: Words) -> str:
    """Say what a cause is, about this loader."""
    workers = 0 if loader is None else loader.settings.num_workers
    return words.cause(cause, workers=words.count("worker", workers), subject=subject(signals, words))


def _starving(signals: Signals, diagnosis: Diagnosis, words: Words) -> str:
    values = {"subject": subject(signals, words), "waits": waits(signals, words)}
    finding = first_finding(diagnosis)
    if diagnosis.cause is None:
        return words("headline.starving-unnamed", **values)
    key = "headline.starving-perhaps" if finding and finding.confidence == "low" else "headline.starving"
    cause = cause_in_words(diagnosis.cause, signals, loader_of(signals, finding), words)
    return words(key, **values, cause=cause)


def _healthy(signals: Signals, diagnosis: Diagnosis, words: Words) -> str:
    values = {"subject": subject(signals, words), "share": _share(signals)}
    if diagnosis.limit is None:
        return words("headline.healthy", **values)
    return words("headline.healthy-limited", **values, limit=cause_in_words(diagnosis.limit, signals, None, words))


def _share(signals: Signals) -> str:
    value = signals.starved_share
    return figures.share(value.value) if isinstance(value, Measured) else figures.ABSENT
