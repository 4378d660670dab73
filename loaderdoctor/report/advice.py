"""What to do: the change that a finding prescribes, or what to run instead where nothing is prescribed."""

from __future__ import annotations

import math
import re
import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING

from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.report import figures
from loaderdoctor.report.charts import interval_chart
from loaderdoctor.report.headline import first_finding
from loaderdoctor.report.model import DiffLine, Example, Fix, Gain
from loaderdoctor.report.next_run import command_again, steps_that_would_do
from loaderdoctor.report.prescribe import as_arguments, patch_of, site_of
from loaderdoctor.report.privacy import clean, code_path
from loaderdoctor.treat.again import again
from loaderdoctor.treat.remedy import is_tried

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loaderdoctor.analyse.signals import Signals
    from loaderdoctor.causes.base import Diagnosis, Finding, Prescription
    from loaderdoctor.record.run import Run
    from loaderdoctor.report.words import Words
    from loaderdoctor.values import Interval

PATCH_FILE = "fix.patch"
BROKEN_OFF = frozenset({"crash", "signal", "interrupt"})
MOST_DIFF_LINES = 16  # with more, the first page would not be one page; the file has them all
MOST_EXAMPLES = 2  # of the first page; the others of a cause are on its page
MOST_EXAMPLE_LINES = 12


def fix(run: Run, signals: Signals, finding: Finding, words: Words, *, in_file: bool) -> Fix:
    """A finding's prescription; `in_file` where fix.patch holds its edit."""
    prescription = finding.prescription
    if prescription is None:
        return Fix(words("fix.title"), (words("fix.none"),))
    saves_memory = (prescription.memory_bytes or 0) < 0 and finding.gain is not None and finding.gain.speedup.best <= 1
    text = patch_of(run, signals, finding)
    sentences = []
    if prescription.settings and text is None:
        sentences += [_settings_sentence(run, signals, finding, words), words("fix.no-patch")]
    if prescription.advice:
        sentences.append(clean(words.said(prescription.advice), run.meta.working_directory))
    if not prescription.settings and prescription.actions:
        sentences.insert(0, words("fix.code"))
    return Fix(
        title=words("fix.optional" if saves_memory else "fix.title"),
        sentences=tuple(sentences),
        diff=_diff(text, words) if text else (),
        apply=words("fix.apply") if text and in_file else "",
        commands=(f"git apply {_shell_path(run, PATCH_FILE)}",) if text and in_file else (),
        safety=" ".join(_prices(finding, words)),
        examples=_examples(run, prescription, words),
    )


def _examples(run: Run, prescription: Prescription, words: Words) -> tuple[Example, ...]:
    """Each further thing to do, with its place and how it is written; what the advice says already is not said again."""
    folder = run.meta.working_directory
    found = []
    for action in prescription.actions:
        place = f"{code_path(action.site.file, folder)}:{action.site.line}" if action.site else ""
        text = "" if action.text in prescription.advice else clean(words.said(action.text), folder).rstrip(".。:：")
        code = clean(action.example, folder)
        if place or code or text:
            key = "at" if place and text else "place" if place else "how" if not text else "text"
            found.append(Example(words(f"example.{key}", place=place, text=text), "\n".join(_few_lines(code))))
    return tuple(found[:MOST_EXAMPLES])


def _few_lines(code: str) -> list[str]:
    lines = code.splitlines()
    return lines if len(lines) <= MOST_EXAMPLE_LINES else [*lines[:MOST_EXAMPLE_LINES], "…"]


def instead(run: Run, signals: Signals, diagnosis: Diagnosis, words: Words) -> Fix:
    """What to run where nothing is prescribed."""
    again = command_again(run, signals, diagnosis)
    commands = ("loaderdoctor check", again) if diagnosis.status in {"unknown", "starving"} else (again,)
    if diagnosis.limit is not None and diagnosis.status == "healthy":
        commands = (f"loaderdoctor explain {diagnosis.limit}", again)
    return Fix(words("instead.title"), (_why_again(run, signals, diagnosis, words),), commands=commands)


def _why_again(run: Run, signals: Signals, diagnosis: Diagnosis, words: Words) -> str:
    """What is to be different the next time."""
    if not signals.loaders:
        return words("instead.no-loader")
    steps = steps_that_would_do(signals, diagnosis)
    if steps is None or diagnosis.status not in {"unknown", "not-enough-data"}:
        return words(f"instead.{diagnosis.status}")
    had = words.count("step", signals.steps.after_warm_up)
    ended = "itself" if run.meta.ended_by == "script" else "early" if run.meta.ended_by in BROKEN_OFF else "asked"
    return words(f"instead.more-steps.{ended}", had=had, steps=f"{steps:,}")


def gain(finding: Finding | None, diagnosis: Diagnosis, words: Words) -> Gain:
    """How much faster, or why there is nothing to expect."""
    title = words("gain.title")
    if finding is None:
        return Gain(title, None, (words(f"gain.nothing.{diagnosis.status}"),))
    memory = finding.prescription.memory_bytes if finding.prescription else None
    sentences = []
    if memory is not None and memory < 0:
        sentences.append(words("gain.memory", size=figures.size(-memory)))
    if finding.gain is None or not math.isfinite(finding.gain.speedup.high):
        return Gain(title, None, (*sentences, words("gain.unknown")))
    if keeps_speed(finding):
        return Gain(title, None, (*sentences, words("gain.same-speed")))
    if diagnosis.combined_gain is not None and sum(other.status == "found" for other in diagnosis.findings) > 1:
        together = diagnosis.combined_gain.speedup
        numbers = {"best": figures.times(together.best), "range": figures.times_range(together)}
        sentences.append(words("gain.together", **numbers))
    else:
        sentences.append(words("gain.not-additive"))
    if finding.promised is None:
        return Gain(title, interval_chart(finding.gain.speedup, finding.gain.basis, words), tuple(sentences))
    promised, measured = finding.promised.speedup, finding.gain.speedup
    sentences.insert(0, _promised_and_measured(promised, measured, words))
    return Gain(title, interval_chart(promised, finding.promised.basis, words, measured), tuple(sentences))


def _promised_and_measured(promised: Interval, measured: Interval, words: Words) -> str:
    """The treated run beside what was promised of it."""
    numbers = {"best": figures.times(measured.best), "range": figures.times_range(measured)}
    kept = measured.low <= promised.high and measured.high >= promised.low
    return words(f"gain.treated.{'kept' if kept else 'missed'}", **numbers, promised=figures.times_range(promised))


def keeps_speed(finding: Finding) -> bool:
    """Whether a finding is about something else than speed."""
    return finding.gain is not None and finding.gain.speedup.low == finding.gain.speedup.high == 1


def gain_in_words(finding: Finding, words: Words) -> str | None:
    """The gain in a line; None where it is not known."""
    if finding.gain is None:
        return None
    if keeps_speed(finding):
        return words("gain.same-speed")
    if finding.promised is not None:
        return _promised_and_measured(finding.promised.speedup, finding.gain.speedup, words)
    speedup = finding.gain.speedup
    return words(f"gain.{finding.gain.basis}", best=figures.times(speedup.best), range=figures.times_range(speedup))


def gain_in_a_line(finding: Finding | None, words: Words) -> str:
    """For a terminal; empty where nothing is promised."""
    return (gain_in_words(finding, words) or "") if finding is not None else ""


def fix_in_a_line(run: Run, signals: Signals, diagnosis: Diagnosis, finding: Finding | None, words: Words) -> str:
    """What to change and where; where nothing is prescribed, why there is no verdict."""
    folder = run.meta.working_directory
    if finding is None or finding.prescription is None:
        return clean(words.said(diagnosis.reason), folder)
    prescription, site = finding.prescription, site_of(signals, finding)
    what = as_arguments(prescription.settings)
    if not prescription.settings:
        site = next((action.site for action in prescription.actions if action.site), None)
        what = first_sentence(clean(words.said(prescription.advice), folder))
    if site is None or f":{site.line})" in what:
        return what
    return f"{code_path(site.file, folder)}:{site.line}  {what}"


def next_in_a_line(run: Run, signals: Signals, diagnosis: Diagnosis, finding: Finding | None) -> str:
    """The page of the cause, or the run once more."""
    about = diagnosis.cause or (finding.cause if finding else None) or diagnosis.limit
    return f"loaderdoctor explain {about}" if about else command_again(run, signals, diagnosis)


def to_treat(run: Run, signals: Signals, finding: Finding | None) -> str:
    """The folder of a run whose prescription `loaderdoctor treat` can prove, and has not yet; else empty."""
    if run.directory is None or run.meta.ended_by in BROKEN_OFF or finding is None or not is_tried(finding):
        return ""
    if finding.gain is None or finding.gain.basis == "measured":
        return ""
    try:
        again(run.meta, signals)
    except LoaderDoctorError:
        return ""
    return str(run.directory)


def lead(run: Run, signals: Signals, diagnosis: Diagnosis, words: Words) -> str:
    """What to do and what happens then, below the headline."""
    finding = first_finding(diagnosis)
    if diagnosis.status != "starving" or finding is None or finding.prescription is None:
        reason = clean(words.said(diagnosis.reason), run.meta.working_directory)
        return reason or words(f"lead.{diagnosis.status}")
    sentences: list[str] = []
    if finding.prescription.settings:
        sentences.append(_settings_sentence(run, signals, finding, words))
    elif finding.prescription.advice:
        sentences.append(first_sentence(clean(words.said(finding.prescription.advice), run.meta.working_directory)))
    if finding.gain is not None and finding.promised is not None:
        sentences.append(_promised_and_measured(finding.promised.speedup, finding.gain.speedup, words))
    elif finding.gain is not None:
        speedup = finding.gain.speedup
        numbers = {"best": figures.times(speedup.best), "range": figures.times_range(speedup)}
        sentences.append(words(f"lead.{finding.gain.basis}", **numbers))
    return " ".join(sentences)


def _settings_sentence(run: Run, signals: Signals, finding: Finding, words: Words) -> str:
    settings = as_arguments(finding.prescription.settings) if finding.prescription else ""
    site = site_of(signals, finding)
    if site is None:
        return words("fix.settings", settings=settings)
    place = f"{code_path(site.file, run.meta.working_directory)}:{site.line}"
    return words("fix.settings-at", settings=settings, place=place)


def first_sentence(text: str) -> str:
    """Up to the first full stop."""
    return re.split(r"(?<=[.!?])\s|(?<=[\u3002\uff01\uff1f])", text, maxsplit=1)[0]


def _diff(text: str, words: Words) -> tuple[DiffLine, ...]:
    kinds = {"+": "add", "-": "del"}
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    shown = tuple(DiffLine(kinds.get(line[:1], "ctx"), line) for line in lines[:MOST_DIFF_LINES])
    if len(lines) > MOST_DIFF_LINES:
        shown += (DiffLine("ctx", words("fix.more-lines", n=len(lines) - MOST_DIFF_LINES)),)
    return shown


def _prices(finding: Finding, words: Words) -> Sequence[str]:
    """What the change costs: memory, and what else it changes."""
    if finding.prescription is None:
        return ()
    memory = finding.prescription.memory_bytes or 0
    price = [words("price.memory", size=figures.size(memory))] if memory > 0 else []
    return [*price, words(f"price.{finding.prescription.safety}")]


def _shell_path(run: Run, name: str) -> str:
    """The patch as seen from the folder that the script ran in; its bare name where the run lies elsewhere."""
    if run.directory is not None and PurePath(run.directory).is_absolute():
        folder = PurePath(run.meta.working_directory)
        if PurePath(run.directory).is_relative_to(folder):
            return shlex.quote((PurePath(run.directory).relative_to(folder) / name).as_posix())
    return name
