"""Scripts in surroundings that are poor, odd or shared with other tools: the same as alone, and what is not measured is said."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from side_by_side import SCRIPTS, TOOL, begin, end

pytestmark = pytest.mark.slow

ENDS = [str(SCRIPTS / "ends.py"), "to the end"]
TRAINS = """
import torch
from torch.utils.data import DataLoader, TensorDataset
print(sum(float(batch.sum()) for (batch,) in DataLoader(TensorDataset(torch.arange(64.0)), batch_size=8)))
"""
SMALL_SHM = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=8k none /dev/shm && exec "$@"', "sh"]
NO_PROC = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]


def may_mount():
    """Whether this user may have a file system of its own."""
    return subprocess.run([*NO_PROC, "true"], capture_output=True, check=False).returncode == 0


mounts = pytest.mark.skipif(not may_mount(), reason="mounting is for those who may, in a namespace of their own")


def meta(folder):
    return json.loads((folder / "run" / "run.json").read_text())


def slugs(folder):
    return [note["slug"] for note in meta(folder)["notes"]]


@pytest.mark.parametrize("option", ["-I", "-E", "-S"])
def test_a_python_that_is_kept_apart_is_said_to_be(tmp_path, option):
    (tmp_path / "script.py").write_text("import sys\nprint(sys.flags)\nsys.exit(6)\n")
    words = [sys.executable, option, "script.py"]
    alone, under = end(begin(words, tmp_path)), end(begin([*TOOL, "--", *words], tmp_path))
    assert under == alone
    assert alone.status == 6
    assert slugs(tmp_path) == ["nothing-recorded"]


def test_a_working_directory_that_is_gone_is_no_matter(tmp_path):
    """Torch cannot be imported in one; what a script leaves it for is its own matter."""
    (tmp_path / "script.py").write_text(f"import os, runpy\nos.chdir({str(tmp_path)!r})\nrunpy.run_path('train.py')\n")
    (tmp_path / "train.py").write_text(TRAINS)
    gone = ["sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "sh"]
    tool = [str(tmp_path / "run") if word == "run" else word for word in TOOL]
    script = str(tmp_path / "script.py")
    alone = end(begin([*gone, sys.executable, script], tmp_path))
    assert end(begin([*gone, *tool, script], tmp_path)) == alone
    assert (alone.status, alone.output) == (0, "2016.0\n")
    assert json.loads((tmp_path / "run" / "report.json").read_text())["loaders"]


@mounts
def test_shared_memory_that_is_full_is_the_scripts_own_matter(tmp_path):
    """Torch's workers end in a bus error, or tell that a batch cannot be sent; which, is chance."""
    alone = end(begin([*SMALL_SHM, sys.executable, *ENDS], tmp_path))
    under = end(begin([*SMALL_SHM, *TOOL, *ENDS], tmp_path))
    assert (under.status, under.output) == (alone.status, alone.output)
    assert alone.status != 0
    assert not [line for line in under.errors if "/loaderdoctor/" in line and "/loaderdoctor/probe/" not in line]
    assert json.loads((tmp_path / "run" / "report.json").read_text())["run"]["ended_by"] == "crash"


@mounts
def test_without_proc_the_script_runs_and_is_measured(tmp_path):
    alone, under = (
        end(begin([*NO_PROC, sys.executable, *ENDS], tmp_path)),
        end(begin([*NO_PROC, *TOOL, *ENDS], tmp_path)),
    )
    assert under == alone
    assert alone.status == 0
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert sum(loader["batches"] for loader in report["loaders"]) == 80


def test_a_profiler_around_the_script_measures_beside_us(tmp_path):
    words = ["-m", "cProfile", "-o", os.devnull, *ENDS]
    alone, under = end(begin([sys.executable, *words], tmp_path)), end(begin([*TOOL, *words], tmp_path))
    assert under == alone
    assert alone.status == 0
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert sum(loader["batches"] for loader in report["loaders"]) == 80


AFTER_PROFILE = """
import pathlib, torch, loaderdoctor
from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.arange(640.0)), batch_size=8, num_workers=1, persistent_workers=True)
with loaderdoctor.profile("run", formats=("json",)):
    for _ in range(2):
        for _ in loader: pass
def content():
    return {file.name: file.read_bytes() for file in pathlib.Path("run/records").iterdir()}
before = content()
for _ in range(3):
    for _ in loader: pass
print(len(before) > 1, content() == before)
"""


def test_workers_that_outlive_the_block_record_no_more(tmp_path):
    (tmp_path / "book.py").write_text(AFTER_PROFILE)
    done = end(begin([sys.executable, "book.py"], tmp_path))
    assert (done.status, done.output) == (0, "True True\n"), done.errors
