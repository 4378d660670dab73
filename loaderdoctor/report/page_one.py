"""The first page beside headline, charts and fix: four numbers, how sure, what was ruled out, the environment."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from loaderdoctor.analyse.signals import ENDED_BY_ITSELF
from loaderdoctor.causes.base import FOUND, NO_DATA, RULED_OUT
from loaderdoctor.report import figures
from loaderdoctor.report.headline import split_of
from loaderdoctor.report.model import Fact, Listing
from loaderdoctor.report.next_run import first_tenth, words_after_profile
from loaderdoctor.report.privacy import clean, clean_facts
from loaderdoctor.values import Interval, Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from loaderdoctor.analyse.signals import LoaderSettings, Signals
    from loaderdoctor.causes.base import Diagnosis, Evidence, Finding
    from loaderdoctor.record.run import Run
    from loaderdoctor.report.parts import Parts
    from loaderdoctor.report.words import Words

MOST_RULED_OUT = 5  # as many as fit on the first page; the second page has the others
MOST_REASONS = 4
LONGEST_COMMAND = 100  # characters of the run line
SECONDS_PER_HOUR = 3600
MOST_UNMEASURED = 3
MOST_NAMES = 3  # of causes that one number rules out
# What people suspect first, and so what they want to see ruled out.
SUSPECTS = (
    "no-workers", "too-few-workers", "storage-bandwidth", "cpu-decode", "unpinned-memory", "gpu-bound", "too-many-workers",
    "small-file-latency", "remote-latency", "cpu-augment", "thread-oversubscription", "python-overhead", "worker-respawn",
    "blocking-h2d", "device-sync", "host-work-main", "noisy-neighbour", "memory-pressure", "cpu-quota", "slow-collate",
    "page-cache-overflow", "head-of-line",
)  # fmt: skip
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
        return Fact(words("fact.waiting.data"), figures.ABSENT, words.said(share.reason))
    kind, wait, copy = split_of(signals)
    values = {
        "range": figures.share_range(Interval.of(share)),
        "length": figures.seconds(signals.measured_s),
        "steps": words.count("step", signals.steps.after_warm_up),
        "wait": figures.share(wait),
        "copy": figures.share(copy),
    }
    detail = words(f"fact.waiting.detail.{kind}", **values)
    return Fact(words(f"fact.waiting.{kind}"), figures.share(share.value), detail)


def _step_now(signals: Signals, words: Words) -> Fact:
    median = signals.steps.median_s
    if not isinstance(median, Measured):
        return Fact(words("fact.step"), figures.ABSENT, words.said(median.reason))
    detail = words("fact.step.detail", steps=words.count("steady", signals.steps.count))
    return Fact(words("fact.step"), figures.seconds(median.value), detail)


def _step_after(signals: Signals, finding: Finding | None, words: Words) -> Fact | None:
    """The median step over the speed-up: what it becomes if it gains as the whole does."""
    median = signals.steps.median_s
    gain = None if finding is None else finding.gain
    if gain is None or not isinstance(median, Measured):
        return None
    speedup = gain.speedup
    range_ = figures.seconds_range(median.value / speedup.high, median.value / speedup.low)
    return Fact(
        words("fact.after"),
        figures.seconds(median.value / speedup.best),
        words(f"fact.after.{gain.basis}", range=range_),
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
        said = [words.said(reason) for reason in finding.reasons] or _texts(finding, words)
        entries += [clean(reason, run.meta.working_directory) for reason in said]
    entries = [*entries[:MOST_REASONS], *_measured(signals, words)]
    return Listing(title, tuple(("", entry) for entry in entries))


def _texts(finding: Finding, words: Words) -> tuple[str, ...]:
    return tuple(evidence_text(entry, words) for entry in finding.evidence)


def _measured(signals: Signals, words: Words) -> Iterator[str]:
    excluded = dict(signals.steps.excluded)
    warm_up = excluded.pop("warm-up", signals.warm_up_steps)
    values = {"warm_up": f"{warm_up:,}", "others": f"{sum(excluded.values()):,}"}
    yield words("sure.steps", steps=words.count("steady", signals.steps.count), **values)
    yield words(f"sure.clock.{signals.clock}")
    if signals.lost_records:
        yield words("sure.lost", n=f"{signals.lost_records:,}")
    tenth = first_tenth(signals)
    if tenth is not None:
        yield words("sure.tenth", n=f"{tenth:,}", steps=tenth)


def ruled_out(run: Run, diagnosis: Diagnosis, words: Words) -> Listing:
    """What it is not, each with the number that says so; first what people suspect first."""
    entries = ruled_out_entries(run, diagnosis, words)
    note = words("ruled-out.more", n=words.count("cause", causes_in(entries))) if entries else words("ruled-out.none")
    return Listing(words("ruled-out.title"), _few(entries[:MOST_RULED_OUT], words), note)


def causes_in(entries: Iterable[tuple[str, str]]) -> int:
    """How many causes the terms of a list name."""
    return sum(len(term.split(", ")) for term, _ in entries)


def _few(entries: Iterable[tuple[str, str]], words: Words) -> tuple[tuple[str, str], ...]:
    """Entries that name no more causes than one reads."""
    return tuple((_first_names(term.split(", "), words), text) for term, text in entries)


def _first_names(names: Sequence[str], words: Words) -> str:
    if len(names) <= MOST_NAMES + 1:
        return ", ".join(names)
    return words("ruled-out.alike", names=", ".join(names[:MOST_NAMES]), n=len(names) - MOST_NAMES)


def ruled_out_entries(run: Run, diagnosis: Diagnosis, words: Words) -> tuple[tuple[str, str], ...]:
    """The causes that were ruled out, by the number that did it; a cause once, whatever the number of loaders."""
    found = {finding.cause for finding in diagnosis.findings if finding.status == FOUND}
    said: dict[str, str] = {}
    for finding in diagnosis.findings:
        if finding.status == RULED_OUT and finding.cause not in found and finding.cause not in said:
            text = next(iter(_texts(finding, words)), "; ".join(map(words.said, finding.reasons)))
            said[finding.cause] = clean(text, run.meta.working_directory)
    alike: dict[str, list[str]] = {}
    for cause in sorted(said, key=_suspected):
        alike.setdefault(said[cause], []).append(cause)
    return tuple((", ".join(causes), text) for text, causes in alike.items())


def _suspected(cause: str) -> int:
    return SUSPECTS.index(cause) if cause in SUSPECTS else len(SUSPECTS)


def evidence_text(evidence: Evidence, words: Words) -> str:
    """The words of an evidence with its number, what it was held against, and from which side."""
    text = words.said(evidence.text)
    if evidence.value is None:
        return text
    said = words(
        "evidence.number", text=text.rstrip(".:。："), number=figures.quantity(evidence.value, evidence.unit, words)
    )
    if evidence.threshold is None:
        return said
    side = {True: "least", False: "below", None: "plain"}[evidence.is_least]
    threshold = figures.quantity(evidence.threshold, evidence.unit, words)
    return words(f"evidence.threshold.{side}", said=said, threshold=threshold)


def unmeasured(run: Run, signals: Signals, diagnosis: Diagnosis, words: Words) -> Listing:
    """What this run could not tell: the largest gaps first."""
    by_itself = words.said(ENDED_BY_ITSELF.reason)  # nothing was missed in a run that did not break
    gaps = tuple((causes, why) for causes, why in no_data(run, diagnosis, words) if why != by_itself)
    if signals.clock != "device" and signals.device.kind != "cpu":
        gaps = (("", words("unmeasured.device-clock")), *gaps)
    left = causes_in(gaps[MOST_UNMEASURED:])
    more = words("unmeasured.more", n=words.count("cause", left)) if left else ""
    return Listing(words("unmeasured.title"), _few(gaps[:MOST_UNMEASURED], words), more)


def no_data(run: Run, diagnosis: Diagnosis, words: Words) -> tuple[tuple[str, str], ...]:
    """Causes by what was missing for them; those that most causes lack first."""
    causes: dict[str, list[str]] = {}
    for finding in diagnosis.findings:
        if finding.status == NO_DATA:
            text = "; ".join(map(words.said, [*finding.reasons, *(entry.text for entry in finding.evidence)]))
            entry = causes.setdefault(clean(text, run.meta.working_directory), [])
            if finding.cause not in entry:
                entry.append(finding.cause)
    return tuple((", ".join(names), text) for text, names in sorted(causes.items(), key=lambda one: -len(one[1])))


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
    return words.listed(entry for entry in entries if entry)
