"""Renders a diagnosis: one view, and a file for each format."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.report.advice import PATCH_FILE
from loaderdoctor.report.parts import Parts
from loaderdoctor.report.words import Words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from loaderdoctor.analyse.signals import Signals
    from loaderdoctor.causes.base import Diagnosis
    from loaderdoctor.record.run import Run
    from loaderdoctor.report.model import ReportView

    Note = tuple[str, str]

FORMATS = ("html", "pdf", "json", "md")


@dataclass(frozen=True)
class Written:
    """The files that were written, in order, and notes (slug, text) on those that were not, or lack a part."""

    files: tuple[Path, ...]
    seen: ReportView
    notes: tuple[tuple[str, str], ...] = ()


def write(  # noqa: PLR0917 - the stages in their order
    run: Run, signals: Signals, diagnosis: Diagnosis, directory: Path, formats: Sequence[str], lang: str = "en"
) -> Written:
    """Write report.<format> for each format, and fix.patch where a source edit is prescribed.

    A file appears whole or not at all, for its owner's eyes alone.  One that cannot be made or written is a note.
    LoaderDoctorError `unknown-format` or `unknown-language`; OSError where no file at all can be written.
    """
    if unknown := sorted(set(formats) - set(FORMATS)):
        sentence = f"There is no format {', '.join(unknown)}: choose among {', '.join(FORMATS)}."
        raise LoaderDoctorError("unknown-format", sentence)
    from loaderdoctor.report.view import view

    words = Words(lang)
    parts = Parts(words)
    notes: list[Note] = []
    seen = view(run, signals, diagnosis, lang)
    contents = _contents(run, signals, diagnosis, sorted(set(formats), key=FORMATS.index), seen, parts, notes)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    files, faults = [], []
    for name, content in contents.items():
        try:
            files.append(_write_whole(directory / name, content))
        except OSError as error:
            faults.append(error)
            notes.append(("report-unwritten", words("file.unwritten", file=name, error=error.strerror)))
    if PATCH_FILE not in contents:
        with suppress(OSError):  # of an earlier report, and taken for this one's
            (directory / PATCH_FILE).unlink(missing_ok=True)
    if faults and not files:
        raise faults[0]
    return Written(tuple(files), seen, (*parts.notes, *notes))


def _contents(  # noqa: PLR0917 - what `write` is given, and where its notes go
    run: Run,
    signals: Signals,
    diagnosis: Diagnosis,
    formats: Sequence[str],
    seen: ReportView,
    parts: Parts,
    notes: list[Note],
) -> dict[str, bytes]:
    """File name -> content, of each that can be made."""
    from loaderdoctor.report import html, json, markdown
    from loaderdoctor.report.prescribe import fix_patch

    patch = parts.made(PATCH_FILE, lambda: fix_patch(run, signals, diagnosis), None)
    data = parts.made("report.json", lambda: json.render(run, signals, diagnosis, seen), None)
    attachments = {"report.json": data, PATCH_FILE: patch.text if patch else None}
    makers: dict[str, Callable[[], str | bytes | None]] = {
        "html": lambda: html.render(seen),
        "pdf": lambda: _pdf(seen, {k: v for k, v in attachments.items() if v is not None}, run.meta.started_utc, notes),
        "json": lambda: data,
        "md": lambda: markdown.render(seen),
    }
    made = {f"report.{one}": parts.made(f"report.{one}", makers[one], None) for one in formats}
    made |= {PATCH_FILE: patch.text if patch else None}
    return {name: text if isinstance(text, bytes) else text.encode() for name, text in made.items() if text is not None}


def _pdf(seen: ReportView, attachments: dict[str, str], started_utc: str, notes: list[Note]) -> bytes | None:
    """The PDF, or None and a note on why."""
    from loaderdoctor.report import pdf

    words = Words(seen.lang)
    try:
        drawn = pdf.render(seen, attachments, started_utc)
    except LoaderDoctorError as error:
        notes.append((error.slug, words("pdf.libraries-missing")))
        return None
    except Exception as error:  # noqa: BLE001 - a failing PDF never fails a run, whatever WeasyPrint trips over
        notes.append(("pdf-failed", words("pdf.failed", error=repr(error))))
        return None
    if drawn.lacks_glyphs:
        notes.append(("pdf-glyphs-missing", words("pdf.glyphs-missing")))
    return drawn.data


def _write_whole(path: Path, content: bytes) -> Path:
    """Write under another name first, so that nobody ever reads half a report, and nobody but its owner a whole one."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # its mode is 0600
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path
