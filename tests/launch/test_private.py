"""A run is its user's alone, its command line has no secrets in it, and what outlives it is none of it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

from loaderdoctor.masked_source import HIDDEN

TRAINS = """
import torch
from torch.utils.data import DataLoader, TensorDataset
for _ in DataLoader(TensorDataset(torch.randn(320, 7)), batch_size=8): pass
print("done")
"""
PROFILE = [sys.executable, "-m", "loaderdoctor", "profile", "--no-pdf"]
LATER = """
import time
while not __import__("os").path.exists("go"): time.sleep(0.05)
import torch
from torch.utils.data import DataLoader, TensorDataset
model = torch.nn.Linear(7, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
for (x,) in DataLoader(TensorDataset(torch.randn(800, 7)), batch_size=8):
    model(x).sum().backward()
    optimizer.step()
open("made", "w").write("all")
"""
STARTS = """
import subprocess, sys
nothing = subprocess.DEVNULL
subprocess.Popen([sys.executable, "later.py"], start_new_session=True, stdin=nothing, stdout=nothing, stderr=nothing)
"""


def profile(folder, *words, **options):
    command = [*PROFILE, "-o", "run", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120, **options)


def until(path):
    """Wait for a file that another process makes."""
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.05)
    raise AssertionError(path)


@pytest.mark.slow
def test_nobody_else_may_read_a_run_whatever_the_umask_and_it_keeps_no_secret(tmp_path):
    (tmp_path / "train.py").write_text('HF_TOKEN = "abc123-abc123"\n' + TRAINS)
    done = profile(tmp_path, "train.py", "--hf-token", "abc123", umask=0)
    assert done.stdout == "done\n", done.stderr
    modes = {path: path.stat().st_mode & 0o777 for path in (tmp_path / "run").rglob("*")}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o700
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}
    assert {"run.json", "sources.json", "control.bin", "report.html", "machine.jsonl"} <= {path.name for path in modes}
    assert HIDDEN in (tmp_path / "run" / "sources.json").read_text()
    assert not any(b"abc123" in path.read_bytes() for path in modes if path.is_file())


@pytest.mark.slow
def test_a_job_that_begins_after_the_run_trains_to_its_end_unrecorded(tmp_path):
    (tmp_path / "later.py").write_text(LATER)
    (tmp_path / "start.py").write_text(STARTS)
    assert profile(tmp_path, "--steps", "20", "start.py").returncode == 0
    (tmp_path / "go").touch()
    until(tmp_path / "made")
    assert list((tmp_path / "run" / "records").iterdir()) == []


@pytest.mark.slow
def test_an_argument_that_is_no_text_reaches_the_script_and_costs_no_report(tmp_path):
    (tmp_path / "train.py").write_text("import os, sys\nprint(os.fsencode(sys.argv[1]))\n" + TRAINS)
    command = [*(word.encode() for word in [*PROFILE, "-o", "run", "train.py"]), b"\xff\xfe"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=120)
    assert done.stdout.splitlines()[0] == repr(b"\xff\xfe").encode(), done.stderr
    assert json.loads((tmp_path / "run" / "report.json").read_text())["run"]["exit_code"] == 0


def test_a_status_is_seen_where_the_caller_ignores_its_children(tmp_path):
    (tmp_path / "three.py").write_text("import sys; sys.exit(3)")

    def ignore():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    assert profile(tmp_path, "three.py", preexec_fn=ignore).returncode == 3
