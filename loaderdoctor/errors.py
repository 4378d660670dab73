"""Everything loaderdoctor gives up on is one error: a slug, a sentence a person can act on, and a page."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit statuses of loaderdoctor's own; `profile` otherwise ends with the script's status."""

    OK = 0
    FAILED_CHECK = 1  # --fail-on matched
    USAGE = 2  # wrong options, or a script or run that is not there
    NO_REPORT = 3  # the script ran, or a run exists, but no report could be made of it


class LoaderDoctorError(Exception):
    """An error with a slug; docs/messages.md has a section for each slug."""

    def __init__(self, slug: str, sentence: str, exit_code: ExitCode = ExitCode.USAGE) -> None:
        super().__init__(sentence)
        self.slug = slug
        self.sentence = sentence
        self.exit_code = exit_code
