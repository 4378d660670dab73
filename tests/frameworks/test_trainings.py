"""Trainings by the commands of other libraries: the same results with the tool as without, and a report of every process."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
import pytest
from installed import need
from PIL import Image
from under_the_tool import PIPELINES, profiled, read_stopwatch, run, starved_share

import loaderdoctor

pytestmark = pytest.mark.slow

SCRIPTS = Path(__file__).with_name("scripts")
SHARE_POINTS = 0.03
PICTURES, BATCH_SIZE, EPOCHS = 16, 4, 6
OFFLINE = {"YOLO_OFFLINE": "true", "YOLO_AUTOINSTALL": "false", "HF_HUB_OFFLINE": "1"}
TINY_DETECTOR = """
nc: 1
backbone:
  - [-1, 1, Conv, [16, 3, 2]]
  - [-1, 1, Conv, [32, 3, 2]]
  - [-1, 1, Conv, [32, 3, 2]]
head:
  - [[2], 1, Detect, [nc]]
"""


def both(command, tmp_path, **environment):
    """How the command ended without the tool and with it, each in a folder of its own, and the report."""
    here, there = tmp_path / "plain", tmp_path / "profiled"
    plain = run([part.format(folder=here) for part in command], here, **environment)
    done, report = profiled(["--", *(part.format(folder=there) for part in command)], there, **environment)
    assert plain.status == 0, plain.stderr
    assert done.status == 0, done.stderr
    assert report["run"]["ended_by"] == "script"
    assert str(Path(loaderdoctor.__file__).parent) not in done.stderr
    return plain, done, report


@pytest.fixture
def folders(tmp_path):
    for name in ("plain", "profiled"):
        (tmp_path / name).mkdir()
    return tmp_path


def make_pictures(folder):
    """Pictures with a square each, as ultralytics reads them, and what its command reads about them."""
    drawn = np.random.default_rng(0)
    for kind in ("images", "labels"):
        (folder / kind).mkdir()
    for index in range(PICTURES):
        pixels = drawn.integers(0, 99, (64, 64, 3), np.uint8)
        pixels[16:48, 16:48] = 255
        Image.fromarray(pixels).save(folder / "images" / f"{index}.jpg")
        (folder / "labels" / f"{index}.txt").write_text("0 0.5 0.5 0.5 0.5\n", encoding="ascii")
    (folder / "data.yaml").write_text(
        f"path: {folder}\ntrain: images\nval: images\nnames: {{0: square}}\n", encoding="utf-8"
    )
    (folder / "tiny.yaml").write_text(TINY_DETECTOR, encoding="ascii")


def losses(folder):
    """What the training said of each epoch, but for how long it took."""
    with (folder / "out" / "results.csv").open(encoding="ascii") as file:
        return [{name: value for name, value in row.items() if name != "time"} for row in csv.DictReader(file)]


def test_a_detector_is_trained_by_the_command_of_its_library(folders):
    need("ultralytics")
    for name in ("plain", "profiled"):
        make_pictures(folders / name)
    command = [
        *(str(Path(sys.executable).with_name("yolo")), "detect", "train", "model=tiny.yaml", "data=data.yaml"),
        *(f"epochs={EPOCHS}", f"batch={BATCH_SIZE}", "imgsz=64", "device=cpu", "seed=0"),
        *("project={folder}", "name=out", "exist_ok=True", "plots=False", "pretrained=False"),
    ]
    _, _, report = both(command, folders, YOLO_CONFIG_DIR=str(folders), **OFFLINE)

    assert losses(folders / "profiled") == losses(folders / "plain")
    assert len(losses(folders / "plain")) == EPOCHS
    loaders = {loader["role"]: loader for loader in report["loaders"]}
    # One iterator for all epochs never ends, and so does the step of its last batch.
    assert loaders["train"]["batches"] == PICTURES // BATCH_SIZE * EPOCHS - 1
    assert loaders["train"]["settings"]["num_workers"] == 0  # what the library itself makes of a CPU
    assert {"read", "decode"} <= {stage["name"] for loader in report["loaders"] for stage in loader["stages"]}


LAUNCHED = {
    1: ["--cpu", "--num_processes", "1"],
    2: ["--multi_gpu", "--num_processes", "2", "--main_process_port", "0"],
}


@pytest.mark.parametrize("processes", LAUNCHED)
def test_accelerates_launcher_starts_processes_that_are_measured_as_they_measure_themselves(processes, folders):
    need("accelerate")
    command = [sys.executable, "-m", "accelerate.commands.launch", *LAUNCHED[processes]]
    command += ["--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no"]
    command += [str(SCRIPTS / "accelerate_launched.py")]
    plain, done, report = both(command, folders, PYTHONPATH=str(PIPELINES), STOPWATCH=str(folders / "times"), **OFFLINE)
    ranks = [read_stopwatch(path) for path in sorted(folders.glob("times*")) if path.suffix != ".samples"]

    assert done.stdout == plain.stdout
    assert len(plain.stdout.splitlines()) == 2
    assert len(ranks) == processes
    assert report["verdict"]["status"] == "starving"
    assert report["verdict"]["starved_share"]["best"] == pytest.approx(starved_share(*ranks), abs=SHARE_POINTS)
    assert report["loaders"][0]["settings"]["num_workers"] == 1
