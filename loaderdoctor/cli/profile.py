"""`loaderdoctor profile`: run a script, measure it, report."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from loaderdoctor import launch
from loaderdoctor.cli.reporting import finish

if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = "[OPTIONS] SCRIPT [ARGS]... | -m MODULE [ARGS]... | -- COMMAND..."


class Verbatim(click.Command):
    """A command whose words after the options arrive byte for byte, and which knows whether `--` stood before them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse our options; take everything from the first other word on as it is."""
        ours, words = _split(self, args)
        ctx.meta["loaderdoctor.any_command"] = words[:1] == ["--"]
        ctx.meta["loaderdoctor.words"] = words[1:] if words[:1] == ["--"] else words
        return super().parse_args(ctx, ours)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """What help shows after the name."""
        return [USAGE]


def _split(command: click.Command, args: list[str]) -> tuple[list[str], list[str]]:
    """Our options, and the words from the first that is none; `-m MODULE` ends ours too."""
    takes_value = {name for p in command.params if isinstance(p, click.Option) and not p.is_flag for name in p.opts}
    at = 0
    while at < len(args) and args[at].startswith("-") and args[at] not in {"--", "-"}:
        at += 2 if args[at] in takes_value else 1
        if args[at - 2 : at - 1] == ["-m"]:
            break
    return args[:at], args[at:]


@click.command(cls=Verbatim, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("-m", "module", metavar="MODULE", help="Run a module, as python -m does.")
@click.option("-o", "--output", metavar="DIR", help="Where the run and its reports go.")
@click.option("--steps", type=click.IntRange(min=1), help="End the script cleanly after N measured training steps.")
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), help="The same after S seconds of training.")
@click.option("--no-pdf", is_flag=True, help="HTML and JSON only.")
@click.option("--lang", type=click.Choice(["en", "zh"]), default="en", help="Language of the report.")
@click.option("--fail-on", type=click.Choice(["starving"]), help="Exit with status 1 on this verdict.")
@click.pass_context
def profile(
    ctx: click.Context,
    *,
    module: str | None,
    output: str | None,
    steps: int | None,
    seconds: float | None,
    no_pdf: bool,
    lang: str,
    fail_on: str | None,
) -> None:
    """Run an unmodified training script and report whether it starves for data, why, and what to change.

    SCRIPT's arguments arrive byte for byte, and its input, output and exit status stay its own.
    """
    words: Sequence[str] = ctx.meta["loaderdoctor.words"]
    command = _command(module, words, any_command=ctx.meta["loaderdoctor.any_command"])
    launched = launch.launch(command, launch.Options(output=output, steps=steps, seconds=seconds))
    formats = ("html", "json") if no_pdf else ("html", "pdf", "json")
    failed = finish(launched.run_dir, formats=formats, lang=lang, fail_on=fail_on)
    sys.stdout.flush()
    sys.exit(failed if failed is not None and not launched.returncode else launch.end_as(launched.returncode))


def _command(module: str | None, words: Sequence[str], *, any_command: bool) -> launch.Command:
    if module is not None:
        return launch.of_module(module, ["--", *words] if any_command else words)
    if any_command or not words:
        return launch.of_words(words)
    return launch.of_script(words[0], words[1:])
