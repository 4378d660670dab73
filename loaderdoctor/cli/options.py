"""Options that several commands share, defined once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    F = TypeVar("F", bound=Callable[..., Any])


def formats(*, no_pdf: bool) -> tuple[str, ...]:
    """The reports that a run gets."""
    return ("html", "json") if no_pdf else ("html", "pdf", "json")


def language(command: F) -> F:
    """`--lang`."""
    option = click.option("--lang", type=click.Choice(["en", "zh"]), default="en", help="Language of the report.")
    return option(command)


def recording(command: F) -> F:
    """`-o`, `--steps`, `--seconds`, `--no-pdf` and `--lang`: of commands that run a script."""
    for option in (
        language,
        click.option("--no-pdf", is_flag=True, help="HTML and JSON only."),
        click.option(
            "--seconds",
            type=click.FloatRange(min=0, min_open=True),
            metavar="S",
            help="The same after S seconds of training.",
        ),
        click.option(
            "--steps",
            type=click.IntRange(min=1),
            metavar="N",
            help="End the script cleanly after N measured training steps.",
        ),
        click.option(
            "-o",
            "--output",
            metavar="DIR",
            type=click.Path(),
            help="Where the run and its reports go; default: loaderdoctor-runs/<script>-<UTC time>.",
        ),
    ):
        command = option(command)
    return command
