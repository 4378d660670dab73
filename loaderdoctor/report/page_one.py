"""The first page beside headline, charts and fix: four numbers, how sure, what was ruled out, the environment."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from loaderdoctor.causes.base import RULED_OUT
from loaderdoctor.report import figures
from loaderdoctor.report.advice import words_after_profile
from loaderdoctor.report.model import Fact, Listing
from loaderdoctor.report.privacy import clean, clean_facts
from loaderdoctor.values import Interval, Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from loaderdoctor.analyse.signals import LoaderSettings, Signals
    from loaderdoctor.causes.base import Diagnosis, Evidence, Finding
    from loaderdoctor.record.run import Run
    from loaderdoctor.report.parts import Parts
    from loaderdoctor.report.words import Words

MOST_RULED_OUT = 5  # as many as fit on the first page; the second page has the others
MOST_REASONS = 4
LONGEST_COMMAND = 100  # characters of the run line
SECONDS_PER_HOUR = 3600
ENDED_EARLY = frozenset({"crash", "signal", "interrupt", "running"})
TRUSTED = frozenset({"starving", "healthy"})  # the verdicts that stand on a share known well enough


def run_line(run: Run, words: Words) -> str:
    """Tool, script and time."""
    command = words_after_profile(run).removeprefix("-- ")
    if len(command) > LONGEST_COMMAND:
        command = f"{command[: LONGEST_COMMAND - 1]}…"
    started = run.meta.started_utc.replace("T", " ")[:16]
    return words("run-line", version=run.meta.tool_version, command=command, started=started)


def facts(
    signals: Signals, diagnosis: Diagnosis, finding: Finding | None, words: Words, parts: Parts
) -> tuple[Fact, ...]:
    """Waiting share, step now, step after the fix (or what a perfect loader would give), waiting per hour."""
    every: tuple[Callable[[], Fact], ...] = (
        lambda: _waiting(signals, words),
        lambda: _step_now(signals, words),
        lambda: _step_after(signals, finding, words) or _at_best(signals, diagnosis, words),
        lambda: _in_an_hour(signals, diagnosis, words),
    )
    return tuple(parts.each("facts", lambda make: make(), every))


def _waiting(signals: Signals, words: Words) -> Fact:
    share = signals.starved_share
    if not isinstance(share, Measured):
        return Fact(words("fact.waiting"), figures.ABSENT, share.reason)
    detail = words("fact.waiting.detail", range=figures.share_range(Interval.of(share)))
    return Fact(words("fact.waiting"), figures.share(share.value), detail)


def _step_now(signals: Signals, words: Words) -> Fact:
    median = signals.steps.median_s
    if not isinstance(median, Measured):
        return Fact(words("fact.step"), figures.ABSENT, median.reason)
    detail = words("fact.step.detail", steps=words.count("steady", signals.steps.count))
    return Fact(words("fact.step"), figures.seconds(median.value), detail)


def _step_after(signals: Signals, finding: Finding | None, words: Words) -> Fact | None:
    """The median step over the speed-up: what it becomes if it gains as the whole does."""
    median = signals.steps.median_s
    if finding is None or finding.gain is None or not isinstance(median, Measured):
        return None
    speedup = finding.gain.speedup
    range_ = figures.seconds_range(median.value / speedup.high, median.value / speedup.low)
    return Fact(
        words("fact.after"),
        figures.seconds(median.value / speedup.best),
        words(f"fact.after.{finding.gain.basis}", range=range_),
    )


def _at_best(signals: Signals, diagnosis: Diagnosis, words: Words) -> Fact:
    share = signals.starved_share
    if diagnosis.status not in TRUSTED or not isinstance(share, Measured) or share.value >= 1:
        return Fact(words("fact.best"), figures.ABSENT, words("fact.not-known"))
    return Fact(words("fact.best"), figures.times(1 / (1 - share.value)), words("fact.best.detail"))


def _in_an_hour(signals: Signals, diagnosis: Diagnosis, words: Words) -> Fact:
    share = signals.starved_share
    if diagnosis.status not in TRUSTED or not isinstance(share, Measured):
        return Fact(words("fact.hour"), figures.ABSENT, words("fact.not-known"))
    waiting = figures.seconds(share.value * SECONDS_PER_HOUR, digits=2)
    return Fact(words("fact.hour"), waiting, words(f"fact.clock.{signals.clock}"))


def sure(run: Run, signals: Signals, finding: Finding | None, words: Words) -> Listing:
    """The confidence, and what it rests on."""
    title = words("sure.title")
    entries: list[str] = []
    if finding is not None:
        title = words("sure.title-of", confidence=words(f"confidence.{finding.confidence}"))
        entries += [clean(reason, run.meta.working_directory) for reason in finding.reasons or _texts(finding, words)]
    entries = [*entries[:MOST_REASONS], *_measured(run, signals, words)]
    return Listing(title, tuple(("", entry) for entry in entries))


def _texts(finding: Finding, words: Words) -> tuple[str, ...]:
    return tuple(evidence_text(entry, words) for entry in finding.evidence)


def _measured(run: Run, signals: Signals, words: Words) -> Iterator[str]:
    excluded = dict(signals.steps.excluded)
    warm_up = excluded.pop("warm-up", signals.warm_up_steps)
    values = {"warm_up": f"{warm_up:,}", "others": f"{sum(excluded.values()):,}"}
    yield words("sure.steps", steps=words.count("steady", signals.steps.count), **values)
    yield words(f"sure.clock.{signals.clock}")
    if run.meta.ended_by in ENDED_EARLY:
        yield words(f"sure.ended.{run.meta.ended_by}", status=run.meta.exit_code)
    if signals.lost_records:
        yield words("sure.lost", n=f"{signals.lost_records:,}")


def ruled_out(run: Run, diagnosis: Diagnosis, words: Words) -> Listing:
    """What it is not, each with its number."""
    entries = ruled_out_entries(run, diagnosis, words)
    more = len(entries) - MOST_RULED_OUT
    note = words("ruled-out.more", n=more) if more > 0 else "" if entries else words("ruled-out.none")
    return Listing(words("ruled-out.title"), entries[:MOST_RULED_OUT], note)


def ruled_out_entries(run: Run, diagnosis: Diagnosis, words: Words) -> tuple[tuple[str, str], ...]:
    """Every cause that was ruled out, with the evidence; a cause once, whatever the number of loaders."""
    entries: dict[str, str] = {}
    found = {finding.cause for finding in diagnosis.findings if finding.status == "found"}
    for finding in diagnosis.findings:
        if finding.status == RULED_OUT and finding.cause not in found and finding.cause not in entries:
            text = "; ".join(_texts(finding, words)) or "; ".join(finding.reasons)
            entries[finding.cause] = clean(text, run.meta.working_directory)
    return tuple(entries.items())


def evidence_text(evidence: Evidence, words: Words) -> str:
    """The words of an evidence with its number, and what it was held against."""
    if evidence.value is None:
        return evidence.text
    number = figures.quantity(evidence.value, evidence.unit)
    said = f"{evidence.text.rstrip('.:')}: {number}"
    if evidence.threshold is None:
        return said
    return words("evidence.threshold", said=said, threshold=figures.quantity(evidence.threshold, evidence.unit))


def environment(run: Run, signals: Signals, words: Words) -> Listing:
    """Where the run ran, as far as the answer depends on it."""
    known = facts_of(run, signals)
    rows = {
        "device": _device(signals, known, words),
        "cpus": _cpus(signals, known, words),
        "memory": _memory(signals),
        "software": ", ".join(
            f"{label} {known[key]}" for key, label in (("torch", "PyTorch"), ("python", "Python")) if key in known
        ),
        "system": " ".join(str(known[key]) for key in ("os", "kernel") if known.get(key)),
        "data": _data(signals),
        "loader": settings_in_words(signals.main.settings, words) if signals.main else "",
        "ranks": f"{signals.ranks}" if signals.ranks > 1 else "",
        "overhead": figures.share(signals.overhead_share.value) if isinstance(signals.overhead_share, Measured) else "",
    }
    return Listing(words("environment.title"), tuple((words(f"env.{key}"), text) for key, text in rows.items() if text))


def facts_of(run: Run, signals: Signals) -> dict[str, Any]:
    """Everything that is known of machine and process; the machine's own keys win."""
    said: Mapping[str, Any] = {}
    for process in run.processes:
        for number in process.tables.get("process", {}).get("about_text", ()):
            said = said or _said(process.texts.get(int(number), "{}"))
    together = {**said, **run.meta.environment, **signals.machine.facts}
    return clean_facts(together, run.meta.working_directory)


def _said(text: str) -> Mapping[str, Any]:
    """What a process says of itself; nothing where that is no JSON object."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _device(signals: Signals, known: Mapping[str, Any], words: Words) -> str:
    names = known.get("gpus") or known.get("device_name") or known.get("gpu")
    if signals.device.kind == "cpu":
        return words("env.no-device")
    kind = signals.device.kind.upper()
    if isinstance(names, (list, tuple)):
        return ", ".join(str(name.get("name", kind) if isinstance(name, dict) else name) for name in names)
    return str(names or kind)


def _cpus(signals: Signals, known: Mapping[str, Any], words: Words) -> str:
    allowed, present = signals.machine.cpus_allowed, signals.machine.cpus_present
    if not isinstance(allowed, Measured) or not isinstance(present, Measured):
        return ""
    values = {"allowed": figures.significant(allowed.value), "present": figures.significant(present.value)}
    by = known.get("cpus_allowed_by")
    if by in {"affinity", "cpuset", "quota"}:
        return words("env.cpus-by", by=by, **values)
    return words("env.cpus-of", **values)


def _memory(signals: Signals) -> str:
    limit = signals.machine.memory_limit_bytes
    return figures.size(limit.value) if isinstance(limit, Measured) else ""


def _data(signals: Signals) -> str:
    """Where the data files lie: the file system, and how far away it is."""
    if signals.disk is None:
        return ""
    return ", ".join(part for part in (signals.disk.file_system, signals.disk.kind) if part and part != "unknown")


def settings_in_words(settings: LoaderSettings, words: Words) -> str:
    """The settings that matter for speed, in a line; of a loader that is not torch's, its type."""
    if not settings.torch_loader:
        return settings.loader_type
    entries = [
        words("setting.batch", n=settings.batch_size) if settings.batch_size else "",
        words.count("worker", settings.num_workers),
        words("setting.prefetch", n=settings.prefetch_factor) if settings.prefetch_factor else "",
        words(f"setting.pin.{'on' if settings.pin_memory else 'off'}"),
        words(f"setting.persistent.{'on' if settings.persistent_workers else 'off'}") if settings.num_workers else "",
        settings.start_method or "",
    ]
    return ", ".join(entry for entry in entries if entry)
