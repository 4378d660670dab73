"""`loaderdoctor demo`: profile the sick training script that ships with the package."""

from __future__ import annotations

import sys

import click

from loaderdoctor import launch
from loaderdoctor.cli.reporting import finish


@click.command()
@click.option("-o", "--output", metavar="DIR", help="Where the run and its reports go.")
@click.option("--no-pdf", is_flag=True, help="HTML and JSON only.")
@click.option("--lang", type=click.Choice(["en", "zh"]), default="en", help="Language of the report.")
def demo(output: str | None, *, no_pdf: bool, lang: str) -> None:
    """Profile a small training on photographs, whose loader is set up wrongly."""
    from loaderdoctor.demo import SCRIPT

    click.echo(f"loaderdoctor: profiling {SCRIPT}, about half a minute", err=True)
    launched = launch.launch(launch.of_script(str(SCRIPT), []), launch.Options(output=output))
    formats = ("html", "json") if no_pdf else ("html", "pdf", "json")
    failed = finish(launched.run_dir, formats=formats, lang=lang)
    sys.exit(failed if failed is not None and not launched.returncode else launch.end_as(launched.returncode))
