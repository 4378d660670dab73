"""The same HTML on paper, by WeasyPrint: an accessible PDF that carries report.json and fix.patch with it."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loaderdoctor.errors import ExitCode, LoaderDoctorError
from loaderdoctor.report import html
from loaderdoctor.report.templates import environment, find_templates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from loaderdoctor.report.model import ReportView

VARIANT = "pdf/ua-1"


# Points.  A page that holds more than usual (a long patch, long paths) is set smaller, so that it stays one page.
SIZES = (9.6, 8.8, 8.0)


@dataclass(frozen=True)
class Pdf:
    """The file's bytes, its pages, whether the first one holds all that it should, and what WeasyPrint complained of."""

    data: bytes
    pages: int
    first_page_is_whole: bool
    warnings: tuple[str, ...]

    @property
    def lacks_glyphs(self) -> bool:
        """Whether some character is in no font of this machine."""
        return any(".notdef" in warning for warning in self.warnings)


def render(view: ReportView, attachments: Mapping[str, str], started_utc: str) -> Pdf:
    """Draw the page; the same input gives the same bytes.

    LoaderDoctorError `pdf-libraries-missing` where Pango is not installed.
    """
    weasyprint = _weasyprint()
    page = html.render(view, ("report.css",))
    for size in SIZES:
        with _warnings() as warnings:
            document = _layout(weasyprint, page, view.labels.footer, size)
        is_whole = html.FIRST_PAGE_END in document.pages[0].anchors
        if is_whole:
            break
    at = datetime.fromisoformat(started_utc.replace("Z", "+00:00"))  # the default is now, and no two files the same
    document.metadata.attachments = [
        weasyprint.Attachment(string=text, name=name, relationship="Data", created=at, modified=at)
        for name, text in attachments.items()
    ]
    with _warnings() as warnings_of_writing:
        data = document.write_pdf(pdf_variant=VARIANT)
    return Pdf(data, len(document.pages), is_whole, (*warnings, *warnings_of_writing))


def _weasyprint() -> Any:
    try:
        import weasyprint
    except OSError as error:
        sentence = f"WeasyPrint cannot load its libraries: {error}"
        raise LoaderDoctorError("pdf-libraries-missing", sentence, ExitCode.NO_REPORT) from None
    return weasyprint


def _layout(weasyprint: Any, page: str, footer: str, size: float) -> Any:
    folder = f"{find_templates()}/"
    fetch = _only_fonts_of(weasyprint, folder)
    css = environment().get_template("pdf.css.j2").render(footer=_css_string(footer), size=size)
    style = weasyprint.CSS(string=css, base_url=folder, url_fetcher=fetch)
    return weasyprint.HTML(string=page, base_url=folder, url_fetcher=fetch).render(stylesheets=[style])


def _css_string(text: str) -> str:
    """The text as a string of CSS that nothing in it can end: all but letters, digits and blanks by their numbers."""
    return '"{}"'.format("".join(c if c.isalnum() or c == " " else f"\\{ord(c):06x}" for c in text))


def _only_fonts_of(weasyprint: Any, folder: str) -> Callable[[str], Any]:
    """A fetcher that opens the package's fonts and refuses all else, whatever a run has in its fields."""
    fonts = Path(folder, "fonts").resolve().as_uri()

    def fetch(url: str) -> Any:
        if not url.startswith(f"{fonts}/") or ".." in url:
            message = f"nothing is fetched for a report: {url[:80]!r}"
            raise ValueError(message)
        return weasyprint.default_url_fetcher(url)

    return fetch


@contextmanager
def _warnings() -> Iterator[list[str]]:
    """Collect what WeasyPrint logs; nothing of it reaches the terminal of a training."""
    logger = logging.getLogger("weasyprint")
    collector = _Collector()
    propagated, logger.propagate = logger.propagate, False
    handlers, logger.handlers = logger.handlers, [collector]
    try:
        yield collector.messages
    finally:
        logger.handlers, logger.propagate = handlers, propagated


class _Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())
