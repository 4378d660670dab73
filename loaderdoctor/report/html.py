"""The report as one HTML file that needs no network, no script and no other file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaderdoctor.report.parts import Parts
from loaderdoctor.report.templates import environment, find_templates
from loaderdoctor.report.words import Words

if TYPE_CHECKING:
    from loaderdoctor.report.model import ReportView


FIRST_PAGE_END = "first-page-end"  # the id of what stands behind the first page
FOR_BROWSERS = ("report.css", "browser.css")  # paper knows no dark mode, and its svg takes no page CSS


def render(view: ReportView, stylesheets: tuple[str, ...] = FOR_BROWSERS) -> str:
    """The whole page, with these files of the templates as its style."""
    css = "\n".join((find_templates() / name).read_text(encoding="utf-8").rstrip() for name in stylesheets)
    parts = Parts(Words(view.lang))

    def part(macro: Any, *drawn: Any) -> Any:
        """What the macro makes; a sentence where it fails."""
        text = parts.made(str(macro.name), lambda: macro(*drawn), None)
        return environment().get_template("blocks.html.j2").module.failed(parts.sentence()) if text is None else text  # type: ignore[attr-defined]  # the template's own macro

    return (
        environment()
        .get_template("report.html.j2")
        .render(
            v=view,
            css=css,
            part=part,
            first_page_end=FIRST_PAGE_END,
        )
    )
