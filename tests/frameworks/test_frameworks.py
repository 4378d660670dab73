"""Trainings with the loaders of other libraries, against their own stopwatch; each only where its library is installed."""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import mean

import pytest
from installed import need
from under_the_tool import PIPELINES, profiled, read_stopwatch, run, starved_share

pytestmark = pytest.mark.slow

SCRIPTS = Path(__file__).with_name("scripts")
SHARE_POINTS = 0.03
BATCHES, BATCH_SIZE, EPOCHS = 30, 16, 2
SAMPLE_STAGES = {"sample", "read", "decode", "transform"}
TRAINING, EVALUATION = "# training", "# evaluation"

# script: module that it imports, num_workers, batch size as the loader has it, cause (their samples wait, and compute nothing)
FRAMEWORKS = {
    "torchdata_stateful": ("torchdata.stateful_dataloader", 2, BATCH_SIZE, "remote-latency"),
    "accelerate_shard": ("accelerate", 2, BATCH_SIZE, "remote-latency"),
    "accelerate_dispatch": ("accelerate", 0, BATCH_SIZE, "no-workers"),
    "lightning_trainer": ("lightning.pytorch", 2, BATCH_SIZE, "eval-stall"),
    "timm_loader": ("timm.data", 2, BATCH_SIZE, "remote-latency"),
    "fastai_loader": ("fastai.data.load", 2, None, "remote-latency"),
    "datasets_map": ("datasets", 0, BATCH_SIZE, "no-workers"),
    "datasets_iterable": ("datasets", 2, BATCH_SIZE, "remote-latency"),
    "geometric_loader": ("torch_geometric.loader", 2, BATCH_SIZE, "remote-latency"),
    "ultralytics_infinite": ("ultralytics.data.build", 2, BATCH_SIZE, "remote-latency"),
    "webdataset_loader": ("webdataset", 2, None, "remote-latency"),
    "litdata_streaming": ("litdata", 2, BATCH_SIZE, "remote-latency"),
    "transformers_trainer": ("transformers", 0, BATCH_SIZE, "no-workers"),
}
ONE_ITERATOR_FOR_ALL_EPOCHS = {"ultralytics_infinite"}


@pytest.mark.parametrize("script", FRAMEWORKS)
def test_the_loaders_of_other_libraries_are_measured_as_the_script_measures_them(script, tmp_path):
    module, num_workers, batch_size, cause = FRAMEWORKS[script]
    need(module)
    path = SCRIPTS / f"{script}.py"
    plain_directory, directory = tmp_path / "plain", tmp_path / "profiled"
    for folder in (plain_directory, directory):
        folder.mkdir()
    plain = run([sys.executable, str(path)], plain_directory, PYTHONPATH=str(PIPELINES), HF_HUB_OFFLINE="1")
    done, report = profiled(
        [str(path)], directory, PYTHONPATH=str(PIPELINES), HF_HUB_OFFLINE="1", STOPWATCH=str(tmp_path / "times")
    )
    loops = read_stopwatch(tmp_path / "times")
    training = report["loaders"][0]

    assert plain.status == 0, plain.stderr
    assert (done.status, done.stdout) == (plain.status, plain.stdout)
    assert report["verdict"]["starved_share"]["best"] == pytest.approx(starved_share(loops), abs=SHARE_POINTS)
    assert report["verdict"]["status"] == "starving"
    if not _has_neighbours(
        report
    ):  # who else takes the cores decides what the workers wait for, and how long a sample takes
        assert report["verdict"]["cause"] == cause
        assert all(worker["busy_share"] > 0.9 for worker in training["workers"])
        _check_samples(tmp_path / "times.samples", training)
    assert [loader["role"] for loader in report["loaders"]] == ["train", "eval"][: len(report["loaders"])]
    assert training["batches"] == BATCHES * EPOCHS
    assert training["epochs"] == (1 if script in ONE_ITERATOR_FOR_ALL_EPOCHS else EPOCHS)
    assert (training["settings"]["num_workers"], training["settings"]["batch_size"]) == (num_workers, batch_size)
    assert [worker["index"] for worker in training["workers"]] == list(range(num_workers))
    if batch_size is None:
        assert report["step"]["samples_per_s"] is None
    _check_sites(path, report)


def _has_neighbours(report):
    """Whether other programs took the cores meanwhile, as the report says of them."""
    about = next(finding for finding in report["findings"] if finding["cause"] == "noisy-neighbour")
    busy = next((one for one in about["evidence"] if one["text"].startswith("CPUs that others keep busy")), None)
    return about["status"] == "found" or (busy is not None and busy["value"] > busy["threshold"])


def _check_samples(path, training):
    """The stages of a sample are as long as its own stopwatch says."""
    samples_s = sum(stage["seconds_per_batch"] for stage in training["stages"] if stage["name"] in SAMPLE_STAGES)
    lines = path.read_text(encoding="ascii").split()
    assert samples_s == pytest.approx(BATCH_SIZE * mean(map(float, lines)), rel=0.25)


def _check_sites(path, report):
    """A loader that the script itself builds is found at its line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for loader, mark in zip(report["loaders"], (TRAINING, EVALUATION), strict=False):
        marked = [number for number, line in enumerate(lines, 1) if mark in line]
        if marked:
            assert loader["site"] == {"file": str(path), "line": marked[0]}
