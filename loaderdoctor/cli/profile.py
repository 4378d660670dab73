"""`loaderdoctor profile`: run a script, measure it, report."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from loaderdoctor import launch
from loaderdoctor.cli import options
from loaderdoctor.cli.duration import DURATION
from loaderdoctor.cli.reporting import finish
from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.live import Beside

if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = "[OPTIONS] SCRIPT [ARGS]... | -m MODULE [ARGS]... | -- COMMAND..."
WORDS = "words"
AFTER_DASHES = "loaderdoctor.after_dashes"


class Verbatim(click.Command):
    """A command whose options end at the first other word; what follows arrives byte for byte.

    A `--` before that word is what click drops; it is remembered, for it says that any command may follow.
    """

    allow_interspersed_args = False

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse our options, and see whether `--` ended them."""
        given = list(args)
        rest = super().parse_args(ctx, args)
        ours = given[: len(given) - len(ctx.params.get(WORDS, ()))]
        ctx.meta[AFTER_DASHES] = ours[-1:] == ["--"]
        return rest

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """What help shows after the name."""
        return [USAGE]


def _files(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="file")]


@click.command(cls=Verbatim)
@click.option("-m", "is_module", is_flag=True, help="Run a module, as python -m does.")
@options.recording
@click.option(
    "--trace-window",
    type=click.IntRange(min=1),
    metavar="N",
    help="After the steps of --steps or --seconds, N more under torch's profiler, device activities only, as a cross-check.",
)
@click.option(
    "--every",
    type=DURATION,
    metavar="TIME",
    help="Record in windows, one each TIME (600, 90s, 10m, 2h), as long as --for says; in between the hooks rest.",
)
@click.option("--for", "window_s", type=DURATION, metavar="TIME", help="How long a window of --every is.")
@click.option("--fail-on", type=click.Choice(["starving"]), help="Exit with status 1 on this verdict.")
@click.argument(WORDS, nargs=-1, type=click.UNPROCESSED, shell_complete=_files)
@click.pass_context
def profile(
    ctx: click.Context,
    *,
    words: Sequence[str],
    is_module: bool,
    output: str | None,
    steps: int | None,
    seconds: float | None,
    trace_window: int | None,
    every: float | None,
    window_s: float | None,
    fail_on: str | None,
    no_pdf: bool,
    lang: str,
) -> None:
    """Run an unmodified training script and report whether it starves for data, why, and what to change.

    Everything after SCRIPT, MODULE or `--` reaches the script byte for byte, and its input, output and exit status stay
    its own. loaderdoctor itself writes to stderr.
    """
    command = command_of(words, is_module=is_module, is_any=ctx.meta[AFTER_DASHES])
    if trace_window is not None and steps is None and seconds is None:
        sentence = "--trace-window comes after the measured steps: say with --steps or --seconds when these are over."
        raise LoaderDoctorError("trace-window-without-end", sentence)
    recording = launch.Options(
        output=output,
        steps=steps,
        seconds=seconds,
        trace_window=trace_window,
        windows=_windows(every, window_s),
        beside=partial(Beside, steps=steps, seconds=seconds, lang=lang),
    )
    launched = launch.launch(command, recording)
    finish(launched, formats=options.formats(no_pdf=no_pdf), lang=lang, fail_on=fail_on)


def _windows(every_s: float | None, window_s: float | None) -> tuple[float, float] | None:
    """Both or none.  LoaderDoctorError `windows-unclear`."""
    if every_s is None and window_s is None:
        return None
    if every_s is None or window_s is None or window_s >= every_s:
        sentence = "Windows need both: --every 10m --for 30s, the second one shorter than the first."
        raise LoaderDoctorError("windows-unclear", sentence)
    return every_s, window_s


def command_of(words: Sequence[str], *, is_module: bool, is_any: bool) -> launch.Command:
    """What stands behind our options.  LoaderDoctorError `script-missing`, `script-is-a-folder` or `command-missing`."""
    if is_any or not words:
        return launch.of_words(words)
    if is_module:
        return launch.of_module(words[0], words[1:])
    return launch.of_script(words[0], words[1:])
