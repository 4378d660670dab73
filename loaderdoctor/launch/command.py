"""From what stands on the command line to the command that is really started."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from loaderdoctor.errors import LoaderDoctorError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Command:
    """A command to start, and the short name that its run directory gets."""

    argv: tuple[str, ...]
    name: str


def of_script(script: str, arguments: Sequence[str]) -> Command:
    """`python SCRIPT ARGS`.  LoaderDoctorError `script-missing` or `script-is-a-folder`."""
    path = Path(script)
    if path.is_dir() and not (path / "__main__.py").exists():
        raise LoaderDoctorError(
            "script-is-a-folder", f"{script} is a folder without a __main__.py: name a script in it."
        )
    if not path.exists():
        sentence = (
            f"There is no script {script}. For a module write `-m {script}`, for any other command `-- {script}`."
        )
        raise LoaderDoctorError("script-missing", sentence)
    return Command((sys.executable, script, *arguments), _short(path.stem))


def of_module(module: str, arguments: Sequence[str]) -> Command:
    """`python -m MODULE ARGS`."""
    return Command((sys.executable, "-m", module, *arguments), _short(module.rpartition(".")[2]))


def of_words(words: Sequence[str]) -> Command:
    """Any command.  LoaderDoctorError `command-missing` where there is none."""
    if not words:
        raise LoaderDoctorError("command-missing", "Name a script, `-m MODULE`, or a command after `--`.")
    return Command(tuple(words), _short(Path(words[0]).stem))


def _short(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.")[:40] or "run"
