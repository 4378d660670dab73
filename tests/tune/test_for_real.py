"""A whole script, tuned, and two of its runs compared: sleeping samples, whose best settings are known."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
SCRIPT = Path(__file__).parents[1] / "treat" / "sleepers.py"


def tool(*words, cwd, check=True):
    command = [sys.executable, "-m", "loaderdoctor", *map(str, words)]
    env = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=300, check=check)


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """A copy of the script in a folder of its own, and what tuning it said."""
    folder = tmp_path_factory.mktemp("tuned")
    (folder / "train.py").write_text(SCRIPT.read_text())
    return folder, tool("tune", "--runs", "3", "-o", "out", "train.py", cwd=folder)


def test_workers_are_what_it_finds_for_samples_that_wait(tuned):
    folder, done = tuned
    told = json.loads((folder / "out" / "tune.json").read_text())
    assert done.stdout == "", "the script's words are in its runs"
    assert told["best"]["settings"]["num_workers"] >= 2
    assert told["best"]["speedup"]["low"] > 1.3
    assert told["runs"] == 3
    assert "trained with 0 workers beside it" in (folder / "out" / "2-treated" / "output.txt").read_text()


def test_the_patch_fits_the_script(tuned):
    folder, _ = tuned
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "apply", "--check", "out/fix.patch"], cwd=folder, check=True)


def test_what_it_says_ends_with_the_best_the_files_and_the_next_command(tuned):
    _, done = tuned
    lines = done.stderr.splitlines()
    assert all(line.startswith("loaderdoctor: ") for line in lines)
    starts = [line.removeprefix("loaderdoctor: ").split(" ")[0] for line in lines]
    assert starts.index("best:") < starts.index("files") < starts.index("next") == len(starts) - 1


def test_its_runs_are_runs_that_can_be_compared(tuned):
    folder, _ = tuned
    told = tool("compare", "out/1-as-written", "out/2-treated", "--format", "json", cwd=folder)
    compared = json.loads(told.stdout)
    assert (compared["verdict"], compared["paired_steps"] > 20) == ("faster", True)
    assert "num_workers" in [change["name"] for change in compared["changes"]]
    assert (
        tool("compare", "out/2-treated", "out/1-as-written", "--fail-on", "slower", cwd=folder, check=False).returncode
        == 1
    )
