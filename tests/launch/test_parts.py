"""Which commands are one of several of a job, and where each keeps its part."""

from __future__ import annotations

import json
import platform
import sys

import pytest

from loaderdoctor import launch
from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.launch.parts import is_part

TORCHRUN = ["torchrun", "--nproc-per-node", "8"]


@pytest.mark.parametrize(
    ("command", "variables", "several"),
    [
        (["python", "train.py"], {}, False),
        (TORCHRUN, {}, False),
        ([*TORCHRUN, "--nnodes", "1", "train.py"], {}, False),
        ([*TORCHRUN, "--nnodes", "1:1", "train.py"], {}, False),
        ([*TORCHRUN, "--nnodes", "2", "train.py"], {}, True),
        ([*TORCHRUN, "--nnodes=2", "train.py"], {}, True),
        ([*TORCHRUN, "--nnodes=1:4", "train.py"], {}, True),
        ([*TORCHRUN, "--nnodes"], {}, False),
        (["accelerate", "launch", "--num_machines", "4", "train.py"], {}, True),
        (["accelerate", "launch", "--num-machines=4", "train.py"], {}, True),
        (["python", "graph.py", "--num-nodes", "2708"], {}, False),  # of a graph
        (["python", "train.py"], {"SLURM_STEP_NUM_TASKS": "2"}, True),
        (["python", "train.py"], {"SLURM_STEP_NUM_TASKS": "1", "SLURM_NTASKS": "2"}, False),  # not started by srun
        (["python", "train.py"], {"OMPI_COMM_WORLD_SIZE": "2"}, True),
        (["torchrun", "train.py"], {"PET_NNODES": "2"}, True),
        (["python", "train.py"], {"RANK": "1", "WORLD_SIZE": "2"}, True),
        (["python", "train.py"], {"WORLD_SIZE": "all"}, False),
    ],
)
def test_commands_of_a_job(command, variables, several):
    assert is_part(command, variables) is several


def launched(output):
    launch.launch(launch.of_words([sys.executable, "-c", ""]), launch.Options(output=str(output)))
    return sorted(path.name for path in output.iterdir())


@pytest.fixture
def named(monkeypatch):
    monkeypatch.setattr(platform, "node", lambda: "node 7/a")
    return monkeypatch


def test_each_command_of_a_job_has_a_folder_by_the_name_of_its_host(tmp_path, named):
    named.setenv("WORLD_SIZE", "2")
    assert launched(tmp_path / "shared") == ["node-7-a"]
    assert launched(tmp_path / "shared") == ["node-7-a", "node-7-a-2"]  # the second task of that host
    meta = json.loads((tmp_path / "shared" / "node-7-a" / "run.json").read_text(encoding="utf-8"))
    assert meta["host"] == "node 7/a"
    assert "one-of-several-parts" in [note["slug"] for note in meta["notes"]]


def test_the_only_command_has_the_folder_itself(tmp_path, named):
    named.delenv("WORLD_SIZE", raising=False)
    assert "run.json" in launched(tmp_path / "own")
    named.setenv("WORLD_SIZE", "2")
    with pytest.raises(LoaderDoctorError) as raised:
        launched(tmp_path / "own")
    assert raised.value.slug == "output-unusable"
