"""The six lines on standard error that end a run: verdict, gain, fix, certainty, files, next command."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from loaderdoctor.report.advice import PATCH_FILE, gain_in_words, words_after_profile
from loaderdoctor.report.headline import first_finding, headline
from loaderdoctor.report.parts import Parts
from loaderdoctor.report.prescribe import as_arguments, site_of
from loaderdoctor.report.privacy import clean, code_path
from loaderdoctor.report.visible import visible_line
from loaderdoctor.report.words import Words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from loaderdoctor.analyse.signals import Signals
    from loaderdoctor.causes.base import Diagnosis, Finding
    from loaderdoctor.record.run import Run
    from loaderdoctor.report import Written

PREFIX = "loaderdoctor:"
_STYLES = {"starving": "bold red", "healthy": "bold green"}


def summary(run: Run, signals: Signals, diagnosis: Diagnosis, written: Written) -> None:
    """Print to standard error; in colour on a terminal, unless NO_COLOR is set."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    style = _STYLES.get(diagnosis.status, "bold")
    for index, line in enumerate(lines(run, signals, diagnosis, written)):
        text = Text.assemble((PREFIX, "dim"), " ", (line, "" if index else style))
        console.print(text, soft_wrap=True)


def lines(run: Run, signals: Signals, diagnosis: Diagnosis, written: Written) -> Iterator[str]:
    """The lines without their prefix, each on one line and as one sees it, whatever a run holds."""
    words = Words(written.lang)
    parts = Parts(words)
    finding = first_finding(diagnosis)
    makers: Mapping[str, Callable[[], Iterable[str]]] = {
        "headline": lambda: [headline(signals, diagnosis, words)],
        "gain": lambda: [_gain(finding, words)],
        "fix": lambda: _advice(run, signals, diagnosis, finding, words),
        "notes": lambda: [text for _, text in written.notes],
        "files": lambda: [words("terminal.files", text=_files(written.files))] if written.files else [],
        "next": lambda: [words("terminal.next", text=_next(run, diagnosis, finding, written))],
    }
    for name, make in makers.items():
        made = parts.made(name, partial(_all, make), None)
        yield from map(visible_line, [parts.sentence()] if made is None else made)


def _all(make: Callable[[], Iterable[str]]) -> list[str]:
    return list(make())


def _advice(run: Run, signals: Signals, diagnosis: Diagnosis, finding: Finding | None, words: Words) -> Iterator[str]:
    if finding is not None and finding.prescription is not None:
        yield words("terminal.fix", text=_fix(run, signals, finding))
        yield words("terminal.sure", text=words(f"confidence.{finding.confidence}"))
    elif diagnosis.reason:
        yield words("terminal.sure", text=clean(diagnosis.reason, run.meta.working_directory))


def _gain(finding: Finding | None, words: Words) -> str:
    text = gain_in_words(finding, words) if finding is not None else None
    return words("terminal.gain", text=text) if text else words("terminal.no-gain")


def _fix(run: Run, signals: Signals, finding: Finding) -> str:
    prescription = finding.prescription
    if prescription is None or not prescription.settings:
        return clean(prescription.advice, run.meta.working_directory) if prescription else ""
    settings = as_arguments(prescription.settings)
    site = site_of(signals, finding)
    if site is None:
        return settings
    return f"{code_path(site.file, run.meta.working_directory)}:{site.line}  {settings}"


def _next(run: Run, diagnosis: Diagnosis, finding: Finding | None, written: Written) -> str:
    patch = next((path for path in written.files if path.name == PATCH_FILE), None)
    is_its_own = finding is not None and finding.prescription is not None and bool(finding.prescription.settings)
    if patch is not None and is_its_own:
        return f"git apply {shlex.quote(_shown(patch))}"
    about = diagnosis.cause or diagnosis.limit
    return f"loaderdoctor explain {about}" if about else f"loaderdoctor profile {words_after_profile(run)}"


def _files(files: Sequence[Path]) -> str:
    """The first with its folder, the others by their names."""
    return ", ".join([_shown(files[0]), *(path.name for path in files[1:])])


def _shown(path: Path) -> str:
    """As one would type it here."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except (ValueError, FileNotFoundError):  # elsewhere; or the working directory is deleted
        return str(path)
