"""Trainings that are told to stop, one by one or as a job, and tools that are killed: what the script does, it does alone too."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from side_by_side import SCRIPTS, TOOL, WAIT_S, begin, end

pytestmark = pytest.mark.slow

INTERRUPTED = str(SCRIPTS / "interrupted.py")
ENDS = str(SCRIPTS / "ends.py")


def to_the_group(process, number):
    os.killpg(process.pid, number)


def to_the_tool(process, number):
    process.send_signal(number)


def told(command, folder, send, number, times):
    """How a command ends that gets a signal so often, each time that it has trained for a while."""
    process = begin(command, folder)
    lines = []
    for _ in range(times):
        while (line := process.stdout.readline()) not in {"training\n", ""}:
            lines.append(line)
        send(process, number)
    done = end(process)
    return done.status, [*lines, *done.output.splitlines(keepends=True)], done.errors


# Arguments of the script, whom the signal is sent to, which, how often, and the status that the script then has.
STOPS = {
    "Ctrl-C twice, with workers": (["1"], to_the_group, signal.SIGINT, 2, 4),
    "a job terminated": (["0"], to_the_group, signal.SIGTERM, 1, -signal.SIGTERM),
    "a job terminated that saves": (["0", "saves"], to_the_group, signal.SIGTERM, 1, 3),
    "the tool terminated, whose job saves": (["0", "saves"], to_the_tool, signal.SIGTERM, 1, 3),
}


@pytest.mark.parametrize("case", STOPS)
def test_a_training_that_is_told_to_stop_stops_as_alone(tmp_path, case):
    arguments, send, number, times, status = STOPS[case]
    command = [sys.executable, INTERRUPTED, *arguments]
    alone = told(command, tmp_path / "alone", send, number, times)
    under = told([*TOOL, INTERRUPTED, *arguments], tmp_path / "under", send, number, times)
    assert under[:2] == alone[:2]
    assert under[0] == status
    assert "loaderdoctor/" not in "".join(under[2])
    assert json.loads((tmp_path / "under" / "run" / "report.json").read_text())["loaders"]


def test_a_killed_tool_leaves_a_training_that_ends_and_a_run_to_report(tmp_path):
    process = begin([*TOOL, INTERRUPTED, "0", "saves"], tmp_path)
    assert process.stdout.readline() == "training\n"
    process.kill()
    process.wait()
    os.killpg(process.pid, signal.SIGTERM)  # what the script does now, it does without us
    assert process.stdout.read() == "saved\n"
    done = subprocess.run(
        [sys.executable, "-m", "loaderdoctor", "report", "run", "--format", "json"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=WAIT_S,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert json.loads((tmp_path / "run" / "report.json").read_text())["loaders"][0]["batches"] >= 30


def made_by_a_daemon(command, folder):
    """What the command says and leaves, when the daemon that it left has trained on and is through."""
    done = end(begin([*command, ENDS, "leaves a daemon"], folder))
    (folder / "go").touch()
    until_s = time.monotonic() + WAIT_S
    while not (folder / "made").exists() and time.monotonic() < until_s:
        time.sleep(0.05)
    return done.status, done.output, (folder / "made").read_text()


def test_a_daemon_that_trains_as_the_command_ends_trains_on(tmp_path):
    alone = made_by_a_daemon([sys.executable], tmp_path / "alone")
    under = made_by_a_daemon([*TOOL, "--steps", "60"], tmp_path / "under")
    assert under == alone
    assert alone[0] == 5
