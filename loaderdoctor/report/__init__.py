"""Renders a diagnosis: one view, and a file for each format."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.report.advice import PATCH_FILE
from loaderdoctor.report.words import Words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loaderdoctor.analyse.signals import Signals
    from loaderdoctor.causes.base import Diagnosis
    from loaderdoctor.record.run import Run
    from loaderdoctor.report.model import ReportView

    Note = tuple[str, str]

FORMATS = ("html", "pdf", "json", "md")


@dataclass(frozen=True)
class Written:
    """The files that were written, in order, and notes (slug, text) on those that were not."""

    files: tuple[Path, ...]
    notes: tuple[tuple[str, str], ...] = ()
    lang: str = "en"


def write(  # noqa: PLR0917 - the stages in their order
    run: Run, signals: Signals, diagnosis: Diagnosis, directory: Path, formats: Sequence[str], lang: str = "en"
) -> Written:
    """Write report.<format> for each format, and fix.patch where a source edit is prescribed.

    A file appears whole or not at all.  A PDF that cannot be made is a note.  LoaderDoctorError `unknown-format` or
    `unknown-language`; OSError where the directory cannot be written.
    """
    if unknown := sorted(set(formats) - set(FORMATS)):
        sentence = f"There is no format {', '.join(unknown)}: choose among {', '.join(FORMATS)}."
        raise LoaderDoctorError("unknown-format", sentence)
    from loaderdoctor.report import html, json, markdown
    from loaderdoctor.report.prescribe import fix_patch
    from loaderdoctor.report.view import view

    seen = view(run, signals, diagnosis, lang)
    patch = fix_patch(run, signals, diagnosis)
    page, data = html.render(seen), json.render(run, signals, diagnosis, lang)
    attachments = {"report.json": data} | ({PATCH_FILE: patch.text} if patch else {})
    texts = {"html": page, "json": data, "md": markdown.render(seen)}
    directory.mkdir(parents=True, exist_ok=True)
    files, notes = [], []
    for name in sorted(set(formats), key=FORMATS.index):
        path = directory / f"report.{name}"
        if name == "pdf":
            content, note = _pdf(seen, attachments, run.meta.started_utc)
            notes += note
        else:
            content = texts[name].encode("utf-8", "backslashreplace")
        if content is not None:
            files.append(_write_whole(path, content))
    if patch is not None:
        files.append(_write_whole(directory / PATCH_FILE, patch.text.encode()))
    return Written(tuple(files), tuple(notes), lang)


def _pdf(seen: ReportView, attachments: dict[str, str], started_utc: str) -> tuple[bytes | None, list[Note]]:
    """The PDF, or None and why."""
    from loaderdoctor.report import pdf

    words = Words(seen.lang)
    try:
        drawn = pdf.render(seen, attachments, started_utc)
    except LoaderDoctorError as error:
        return None, [(error.slug, words("pdf.libraries-missing"))]
    except Exception as error:  # noqa: BLE001 - a failing PDF never fails a run, whatever WeasyPrint trips over
        return None, [("pdf-failed", words("pdf.failed", error=repr(error)))]
    return drawn.data, [("pdf-glyphs-missing", words("pdf.glyphs-missing"))] if drawn.lacks_glyphs else []


def _write_whole(path: Path, content: bytes) -> Path:
    """Write under another name first, so that nobody ever reads half a report."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.touch(mode=0o600)  # a report names files and commands that are nobody else's to read
        partial.write_bytes(content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path
