"""`loaderdoctor demo`: profile the sick training script that ships with the package."""

from __future__ import annotations

import click

from loaderdoctor import launch
from loaderdoctor.cli import options
from loaderdoctor.cli.reporting import finish, say


@click.command()
@options.recording
def demo(*, output: str | None, steps: int | None, seconds: float | None, no_pdf: bool, lang: str) -> None:
    """Profile a small training on photographs, whose loader is set up wrongly."""
    from loaderdoctor.demo import SCRIPT

    say(f"profiling {SCRIPT}, about half a minute")
    command = launch.of_script(str(SCRIPT), [])
    launched = launch.launch(command, launch.Options(output=output, steps=steps, seconds=seconds))
    finish(launched, formats=options.formats(no_pdf=no_pdf), lang=lang)
