"""The same HTML on paper, by WeasyPrint: an accessible PDF that carries report.json and fix.patch with it."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from loaderdoctor.errors import ExitCode, LoaderDoctorError
from loaderdoctor.report import html
from loaderdoctor.report.templates import find_templates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loaderdoctor.report.model import ReportView

VARIANT = "pdf/ua-1"
SCHEME = "loaderdoctor:"  # of the package's own fonts, as pdf.css names them; no other program knows it

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
            document = _layout(weasyprint, page, size)
        is_whole = html.FIRST_PAGE_END in document.pages[0].anchors
        if is_whole:
            break
    at = _time(started_utc)  # the default is now, and no two files the same
    document.metadata.attachments = [
        weasyprint.Attachment(string=text, name=name, relationship="Data", created=at, modified=at)
        for name, text in attachments.items()
    ]
    with _warnings() as warnings_of_writing:
        data = document.write_pdf(pdf_variant=VARIANT)
    return Pdf(data, len(document.pages), is_whole, (*warnings, *warnings_of_writing))


def _time(started_utc: str) -> datetime:
    """When the run started; the epoch where a run says something that is no time."""
    try:
        return datetime.fromisoformat(started_utc.replace("Z", "+00:00"))
    except ValueError:
        return datetime.fromtimestamp(0, timezone.utc)


def _weasyprint() -> Any:
    try:
        import weasyprint
    except OSError as error:
        sentence = f"WeasyPrint cannot load its libraries: {error}"
        raise LoaderDoctorError("pdf-libraries-missing", sentence, ExitCode.NO_REPORT) from None
    return weasyprint


def _layout(weasyprint: Any, page: str, size: float) -> Any:
    """Set the page; nothing of a run stands in the CSS, and nothing that a page names is fetched."""
    only_ours = fetcher(weasyprint)
    css = (find_templates() / "pdf.css").read_text(encoding="utf-8") + f"html {{ font-size: {size}pt !important; }}"
    fonts = weasyprint.text.fonts.FontConfiguration()  # without it, WeasyPrint passes over @font-face
    style = weasyprint.CSS(string=css, base_url=SCHEME, url_fetcher=only_ours, font_config=fonts)
    html_of_page = weasyprint.HTML(string=page, base_url=SCHEME, url_fetcher=only_ours)
    return html_of_page.render(stylesheets=[style], font_config=fonts)


def fetcher(weasyprint: Any) -> Any:
    """For `url_fetcher`: answers with the package's own fonts, and refuses every address of a file or of the network."""
    fonts = {f"{SCHEME}fonts/{path.name}": path for path in (find_templates() / "fonts").glob("*.woff2")}

    class OnlyOurs(weasyprint.urls.URLFetcher):  # type: ignore[misc]  # WeasyPrint has no types
        def fetch(self, url: str, headers: Any = None) -> Any:  # noqa: ARG002 - WeasyPrint's signature
            if url not in fonts:
                message = "a report fetches nothing"
                raise ValueError(message)
            return weasyprint.urls.URLFetcherResponse(url, fonts[url].read_bytes(), {"Content-Type": "font/woff2"})

    return OnlyOurs()


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
