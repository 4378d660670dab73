"""Runs a script as it is, and under `loaderdoctor profile`, and reads what came of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PIPELINES = Path(__file__).parent / "pipelines"
TIME_LIMIT_S = 180  # far beyond any of the scripts: what hangs must fail, not wait for the runner's patience


@dataclass(frozen=True)
class Done:
    """How a command ended; `status` is negative where a signal ended it, as subprocess says."""

    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Step:
    """A step by the script's own stopwatch: batch asked for, batch got, step done.  Seconds."""

    asked: float
    got: float
    done: float
    first: bool  # of its loop
    ending_s: float  # what the last next() of the loop before took, which is a wait too


def run(command: list[str], directory: Path, **environment: str) -> Done:
    """Runs the command in the directory, without input."""
    done = subprocess.run(
        command,
        cwd=directory,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_S,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def profiled(target: list[str], directory: Path, **environment: str) -> tuple[Done, dict[str, Any]]:
    """Runs the target under the tool, with its run directory at `directory/run`; the report.json beside how it ended."""
    command = [sys.executable, "-m", "loaderdoctor", "profile", "--no-pdf", "-o", str(directory / "run"), *target]
    done = run(command, directory, **environment)
    return done, read_report(directory / "run", done.stderr)


def read_report(run_directory: Path, stderr: str = "") -> dict[str, Any]:
    """The report.json of a run; where there is none, the test fails with what the tool said."""
    path = run_directory / "report.json"
    assert path.exists(), f"no report.json; stderr was:\n{stderr}"
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return report


def read_stopwatch(path: Path) -> list[list[Step]]:
    """The loops that a script timed by itself, each a list of its steps."""
    loops, ending_s = [], 0.0
    for loop in json.loads(path.read_text(encoding="utf-8")):
        asked, steps = loop["began"], []
        for got, done in loop["steps"]:
            steps.append(Step(asked, got, done, first=not steps, ending_s=0.0 if steps else ending_s))
            asked = done
        ending_s = loop.get("over", asked) - asked
        loops.append(steps)
    return loops


def starved_share(*ranks: list[list[Step]]) -> float:
    """Share of the time after warm-up spent waiting for data, as the contract defines it on a CPU.

    Ranks wait for each other in every step, so the longest wait of any of them counts; the time is the first one's.
    """
    steps = [[step for loop in loops for step in loop] for loops in ranks]
    waits_s = [max(step.got - step.asked + step.ending_s for step in same) for same in zip(*steps, strict=True)]
    warm_up = max(3, len(waits_s) // 10)
    return sum(waits_s[warm_up:]) / (steps[0][-1].done - steps[0][warm_up - 1].done)
