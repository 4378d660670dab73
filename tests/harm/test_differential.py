"""Scripts alone and under the tool: the same status, the same output, the same traces, however they end."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.slow

SCRIPTS = Path(__file__).parent / "scripts"
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


def both(folder, *words):
    """The script alone and under the tool, at the same time; each in a folder of its own."""
    alone = begin([sys.executable, *words], folder / "alone")
    under = begin([*TOOL, *words], folder / "under")
    return end(alone), end(under)


def report(folder):
    return json.loads((folder / "under" / "run" / "report.json").read_text())


# How each is told to have ended; None: no report can be made.
ENDS = {
    "to the end": "script",
    "a worker raises": "crash",
    "the main process raises in next": "crash",
    "a worker has no memory left": "crash",
    "abort": "signal",
    "segmentation fault": "signal",
    "killed": "signal",
    "becomes another": "script",
    "forks": "script",
    "loses its run": None,
    "cannot write": "script",
}


@pytest.mark.parametrize("name", ENDS)
def test_a_script_ends_as_it_does_alone(tmp_path, name):
    alone, under = both(tmp_path, str(SCRIPTS / "ends.py"), name)
    assert under == alone
    if ENDS[name] is not None:
        assert report(tmp_path)["run"]["ended_by"] == ENDS[name]
        assert report(tmp_path)["loaders"]


def test_a_script_notices_nothing(tmp_path):
    alone, under = both(tmp_path, str(SCRIPTS / "lives.py"))
    assert under == alone
    assert alone.status == 0
    assert len(list((tmp_path / "under" / "run" / "records").iterdir())) <= 3
    assert report(tmp_path)["loaders"]
