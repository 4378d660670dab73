"""Where the templates lie, and the engine that fills them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import jinja2

from loaderdoctor.errors import ExitCode, LoaderDoctorError

_PACKAGE = Path(__file__).resolve().parents[1]
FOLDERS = (_PACKAGE / "report_templates", _PACKAGE.parent / "report_templates")  # installed; a working copy


def find_templates() -> Path:
    """The folder of the templates.  LoaderDoctorError `templates-missing`."""
    for folder in FOLDERS:
        if (folder / "report.html.j2").is_file():
            return folder
    sentence = f"The report's templates are neither in {FOLDERS[0]} nor in {FOLDERS[1]}: install loaderdoctor again."
    raise LoaderDoctorError("templates-missing", sentence, ExitCode.NO_REPORT)


@cache
def environment() -> jinja2.Environment:
    """HTML is escaped; a name that the view does not have is an error, not an empty place."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(find_templates()),
        autoescape=jinja2.select_autoescape(("html.j2", "svg.j2")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
