"""The package from Python: `with loaderdoctor.profile()`, `load`, `diagnose`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import loaderdoctor

WAIT_S = 120
TRAINING = """
import os, sys
import torch
from torch.utils.data import DataLoader, TensorDataset
import loaderdoctor

def train(loader, steps=100):
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-6)
    for _, (numbers,) in zip(range(steps), loader):
        model(numbers).sum().backward()
        optimizer.step()
    return 0

def loader(**settings):
    return DataLoader(TensorDataset(torch.zeros(800, 4)), batch_size=8, **settings)

"""


def python(body, directory, **environment):
    """The finished process of a script that trains and then does what `body` says."""
    script = directory / "book.py"
    script.write_text(TRAINING + body)
    return subprocess.run(
        [sys.executable, str(script)],
        cwd=directory,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=WAIT_S,
    )


def meta(run):
    return json.loads((run / "run.json").read_text())


def batches(run):
    return [
        len(process.tables["next"]["batch"]) for process in loaderdoctor.load(run).processes if "next" in process.tables
    ]


def test_a_block_is_recorded_and_reported(tmp_path):
    done = python(
        "loader = loader()\n"
        "train(loader, 7)\n"
        "with loaderdoctor.profile('run', formats=['json']) as profile:\n"
        "    train(loader, 50)\n"
        "train(loader, 9)\n"
        "print(profile.directory.name, profile.diagnosis.status, [path.name for path in profile.files])\n"
        "print(os.environ.get('LOADERDOCTOR_RUN'), os.environ.get('PYTHONPATH'))\n",
        tmp_path,
    )
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    files = ["report.json", "fix.patch"] if (tmp_path / "run" / "fix.patch").exists() else ["report.json"]
    assert (
        done.stdout
        == f"run {report['verdict']['status']} {files}\n{os.environ.get('LOADERDOCTOR_RUN')} {os.environ.get('PYTHONPATH')}\n"
    )
    assert done.stderr == ""
    assert batches(tmp_path / "run") == [50]
    assert meta(tmp_path / "run")["ended_by"] == "script"


def test_two_blocks_are_two_runs(tmp_path):
    done = python(
        "for name, steps in (('one', 30), ('two', 40)):\n"
        "    with loaderdoctor.profile(name, formats=['json']):\n"
        "        train(loader(), steps)\n",
        tmp_path,
    )
    assert done.stderr == ""
    assert [batches(tmp_path / name) for name in ("one", "two")] == [[30], [40]]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_are_recorded_however_they_start(method, tmp_path):
    done = python(
        "if __name__ == '__main__':\n"
        "    with loaderdoctor.profile('run', formats=['json']):\n"
        f"        train(loader(num_workers=1, multiprocessing_context='{method}'))\n",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    workers = [process for process in loaderdoctor.load(tmp_path / "run").processes if process.header["role"] == 1]
    assert [len(process.tables["fetch"]["batch"]) for process in workers] == [100]


ENDS = {
    "raise ValueError('sample 9')": ("crash", 1, "ValueError: sample 9"),
    "raise KeyboardInterrupt": ("interrupt", 130, "KeyboardInterrupt"),
    "sys.exit(0)": ("script", 0, ""),
    "sys.exit('no data')": ("crash", 1, "no data"),
}


@pytest.mark.parametrize("statement", ENDS)
def test_what_ends_the_block_passes_through_after_the_report(statement, tmp_path):
    ended_by, exit_code, last = ENDS[statement]
    done = python(
        f"with loaderdoctor.profile('run', formats=['json']):\n    train(loader(), 30)\n    {statement}\n", tmp_path
    )
    assert (done.stderr.splitlines() or [""])[-1] == last
    assert (tmp_path / "run" / "report.json").exists()
    assert (meta(tmp_path / "run")["ended_by"], meta(tmp_path / "run")["exit_code"]) == (ended_by, exit_code)


def test_a_block_in_a_profiled_script_is_the_scripts_run(tmp_path):
    (tmp_path / "book.py").write_text(
        TRAINING + "with loaderdoctor.profile('inner') as profile:\n    train(loader(), 30)\n"
        "print(profile.directory.name, profile.diagnosis, profile.files)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "loaderdoctor", "profile", "--no-pdf", "-o", "outer", "book.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=WAIT_S,
    )
    assert done.stdout == "outer None ()\n"
    assert batches(tmp_path / "outer") == [30]
    assert not (tmp_path / "inner").exists()


def test_a_report_that_fails_is_a_warning(tmp_path):
    done = python(
        "with loaderdoctor.profile('run', formats=['docx']) as profile:\n    train(loader(), 30)\nprint(profile.diagnosis)\n",
        tmp_path,
    )
    assert (done.returncode, done.stdout) == (0, "None\n")
    assert "RuntimeWarning: loaderdoctor: there is no report" in done.stderr


def test_where_the_run_cannot_be_kept_the_block_does_not_start():
    with (
        pytest.raises(loaderdoctor.errors.LoaderDoctorError, match="cannot be kept"),
        loaderdoctor.profile("/proc/nowhere"),
    ):
        pytest.fail("started")
    assert not Path("/proc/nowhere").exists()


def test_what_is_public():
    assert dir(loaderdoctor) == ["Profile", "__version__", "diagnose", "load", "profile"]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = loaderdoctor.nothing
