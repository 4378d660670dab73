"""What to do: the change that a finding prescribes, or what to run instead where nothing is prescribed."""

from __future__ import annotations

import math
import re
import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING

from loaderdoctor.report import figures
from loaderdoctor.report.charts import interval_chart
from loaderdoctor.report.headline import first_finding
from loaderdoctor.report.model import DiffLine, Fix, Gain
from loaderdoctor.report.prescribe import as_arguments, patch_of, site_of
from loaderdoctor.report.privacy import clean, code_path, shown_command
from loaderdoctor.report.treated import promise_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loaderdoctor.analyse.signals import Signals
    from loaderdoctor.causes.base import Diagnosis, Finding
    from loaderdoctor.record.run import Run
    from loaderdoctor.report.words import Words

PATCH_FILE = "fix.patch"
MOST_DIFF_LINES = 16  # with more, the first page would not be one page; the file has them all
_PYTHON = re.compile(r"python[0-9.]*(\.exe)?")


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
        sentences.append(clean(prescription.advice, run.meta.working_directory))
    return Fix(
        title=words("fix.optional" if saves_memory else "fix.title"),
        sentences=tuple(sentences),
        diff=_diff(text, words) if text else (),
        apply=words("fix.apply") if text and in_file else "",
        commands=(f"git apply {_shell_path(run, PATCH_FILE)}",) if text and in_file else (),
        safety=" ".join(_prices(finding, words)),
    )


def instead(run: Run, signals: Signals, diagnosis: Diagnosis, words: Words) -> Fix:
    """What to run where nothing is prescribed."""
    again = f"loaderdoctor profile {words_after_profile(run)}"
    commands = ("loaderdoctor check", again) if diagnosis.status in {"unknown", "starving"} else (again,)
    if diagnosis.limit is not None and diagnosis.status == "healthy":
        commands = (f"loaderdoctor explain {diagnosis.limit}", again)
    key = f"instead.{diagnosis.status}" if signals.loaders else "instead.no-loader"
    return Fix(words("instead.title"), (words(key),), commands=commands)


def words_after_profile(run: Run) -> str:
    """The command as it is written behind `loaderdoctor profile`."""
    command = shown_command(run.meta.command, run.meta.working_directory)
    if command and _PYTHON.fullmatch(PurePath(command[0]).name) and len(command) > 1:
        return shlex.join(command[1:])
    return shlex.join(["--", *command])


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
    if finding.measured is not None and (promise := promise_of(finding.measured, words)) is not None:
        sentences.append(promise)
    if diagnosis.combined_gain is not None and sum(other.status == "found" for other in diagnosis.findings) > 1:
        together = diagnosis.combined_gain.speedup
        numbers = {"best": figures.times(together.best), "range": figures.times_range(together)}
        sentences.append(words("gain.together", **numbers))
    else:
        sentences.append(words("gain.not-additive"))
    return Gain(title, interval_chart(finding.gain.speedup, finding.gain.basis, words), tuple(sentences))


def keeps_speed(finding: Finding) -> bool:
    """Whether a finding is about something else than speed."""
    return finding.gain is not None and finding.gain.speedup.low == finding.gain.speedup.high == 1


def gain_in_words(finding: Finding, words: Words) -> str | None:
    """The gain in a line; None where it is not known."""
    if finding.gain is None:
        return None
    if keeps_speed(finding):
        return words("gain.same-speed")
    speedup = finding.gain.speedup
    return words(f"gain.{finding.gain.basis}", best=figures.times(speedup.best), range=figures.times_range(speedup))


def lead(run: Run, signals: Signals, diagnosis: Diagnosis, words: Words) -> str:
    """What to do and what happens then, below the headline."""
    finding = first_finding(diagnosis)
    if diagnosis.status != "starving" or finding is None or finding.prescription is None:
        return clean(diagnosis.reason, run.meta.working_directory) or words(f"lead.{diagnosis.status}")
    sentences: list[str] = []
    if finding.prescription.settings:
        sentences.append(_settings_sentence(run, signals, finding, words))
    elif finding.prescription.advice:
        sentences.append(_first_sentence(clean(finding.prescription.advice, run.meta.working_directory)))
    if finding.gain is not None:
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


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s", text, maxsplit=1)[0]


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
