"""The command line: one command a file, parsing and exit codes only."""

from __future__ import annotations

import sys
import warnings

import click

from loaderdoctor import __version__
from loaderdoctor.cli import check, compare, demo, explain, profile, report, treat, tune
from loaderdoctor.cli.reporting import complain
from loaderdoctor.errors import LoaderDoctorError

EPILOG = (
    'Completion for your shell: eval "$(_LOADERDOCTOR_COMPLETE=bash_source loaderdoctor)" (or zsh_source, fish_source).'
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=EPILOG)
@click.version_option(__version__, prog_name="loaderdoctor")
def commands() -> None:
    """Say why a PyTorch training starves for data, what to change, and how much faster it gets."""


for command in (
    profile.profile,
    report.report,
    treat.treat,
    tune.tune,
    compare.compare,
    explain.explain,
    check.check,
    demo.demo,
):
    commands.add_command(command)


def main() -> None:
    """Entry point; errors of ours become one sentence and an exit status."""
    warnings.simplefilter("ignore")  # PYTHONWARNINGS is meant for the script, whose terminal this is
    try:
        commands.main(prog_name="loaderdoctor")
    except LoaderDoctorError as error:
        complain(error)
        sys.exit(error.exit_code)
