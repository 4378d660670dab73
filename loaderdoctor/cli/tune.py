"""`loaderdoctor tune`: climb the ladder of the loader's settings, on the script itself."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from loaderdoctor.cli.profile import AFTER_DASHES, WORDS, Verbatim, command_of
from loaderdoctor.cli.reporting import say, writing_into

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from loaderdoctor.tune.climb import Climbed
    from loaderdoctor.tune.rung import Rung


@click.command(cls=Verbatim)
@click.option("-m", "is_module", is_flag=True, help="Run a module, as python -m does.")
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(),
    help="Where runs and results go; default: loaderdoctor-runs/<script>-tune-<UTC time>.",
)
@click.option(
    "--steps",
    type=click.IntRange(min=20),
    metavar="N",
    help="Measured steps of each run; default: those of a minute, or all where the script ends before.",
)
@click.option("--runs", type=click.IntRange(min=2), default=6, show_default=True, metavar="N", help="So many, at most.")
@click.argument(WORDS, nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def tune(
    ctx: click.Context, *, words: Sequence[str], is_module: bool, output: str | None, steps: int | None, runs: int
) -> None:
    """Run a training script a few times under other settings of its training loader, and say which are the best.

    The settings are forced on that loader as it is built: no source is edited.  What the script writes it writes in each
    run; its output is kept in DIR.
    """
    from loaderdoctor.tune import kept
    from loaderdoctor.tune.climb import Task, climb

    command = command_of(words, is_module=is_module, is_any=ctx.meta[AFTER_DASHES])
    folder = kept.folder(output, command.name)
    say(f"running the script up to {runs} times; each run writes what the script writes")
    climbed = climb(Task(command, folder, steps, runs), tell=_tell)
    with writing_into(folder):
        files = kept.write(climbed, folder)
    for line in _lines(climbed, files):
        say(line)


def _tell(rung: Rung) -> None:
    """A line as each rung is done."""
    from loaderdoctor.report import figures
    from loaderdoctor.report.prescribe import as_arguments
    from loaderdoctor.tune.rung import NAMES

    what = f"{NAMES[rung.name]} ({as_arguments(rung.settings)})" if rung.settings else NAMES[rung.name]
    if rung.seen is not None:
        say(f"{what}: {figures.cell(rung.seen.step_s)} a step")
    elif rung.run_dir is not None:
        say(f"{what}: {rung.why}")


def _lines(climbed: Climbed, files: Sequence[Path]) -> Iterator[str]:
    from loaderdoctor.report.advice import PATCH_FILE
    from loaderdoctor.report.terminal import as_typed
    from loaderdoctor.tune.shown import lines

    if climbed.interrupted:
        yield "interrupted: this is what was measured by then"
    yield from lines(climbed)
    yield f"files  {as_typed(files[0])}, {', '.join(path.name for path in files[1:])}"
    patch = next((path for path in files if path.name == PATCH_FILE), None)
    if patch is not None:
        yield f"next   git apply {shlex.quote(as_typed(patch))}"
