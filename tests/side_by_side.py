"""A script alone and under the tool, side by side: what the two say and how they end."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

SCRIPTS = Path(__file__).parent / "harm" / "scripts"
TOOL = [sys.executable, "-m", "loaderdoctor", "profile", "--no-pdf", "-o", "run"]
WAIT_S = 120
NUMBERS_OF_THE_RUN = re.compile(r"0x[0-9a-f]+|pid\(s\) [\d, ]+|\(pid:? ?\d+\)|^USDT:\S+ \S+ \S+", re.MULTILINE)


BETWEEN = ("/loaderdoctor/probe/", "/torch/utils/data/_utils/fetch.py")


class Done(NamedTuple):
    """What a script's caller sees of it."""

    status: int
    output: str
    errors: list[str]


def begin(command, folder, **options):
    folder.mkdir(exist_ok=True)
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=folder, start_new_session=True, **(pipes | options))


def end(process):
    """Without what the tool says, and without what no two runs have in common."""
    output, errors = process.communicate(timeout=WAIT_S)
    lines = [line.strip("\0") for line in NUMBERS_OF_THE_RUN.sub("*", errors).splitlines()]
    theirs = list(without_frames(lines))
    return Done(process.returncode, output, [line for line in theirs if not line.startswith("loaderdoctor: ")])


def without_frames(lines):
    """Traces without the frames between the script and its data set: ours, and torch's that ours stand for."""
    between = False
    for line in lines:
        if line.startswith('  File "'):
            between = any(place in line for place in BETWEEN)
        if not (between and line.startswith("  ")):
            yield line
