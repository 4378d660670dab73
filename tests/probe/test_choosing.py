"""Choosing indices is timed wherever a sampler does it, at the beginning of an epoch too; and first batches have checksums."""

from __future__ import annotations

from pathlib import Path

import pytest
from probing import main_of, run, workers_of

AHEAD = Path(__file__).parent / "scripts" / "draws_ahead.py"
DRAWN_NS = 50_000_000  # by the script, each time that its sampler is asked to begin


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    run(AHEAD, directory)
    return directory


def test_a_sampler_that_draws_the_epoch_at_once_is_heard_in_every_epoch(run_dir):
    rows = main_of(run_dir).of("iterator")
    assert len(rows) == 3 * 2
    for row in rows:
        assert DRAWN_NS <= row["sampler_ns"] <= row["end_ns"] - row["begin_ns"]


def test_the_batches_of_a_pass_have_a_checksum_which_tells_them_apart(run_dir):
    contents = [row["content"] for worker in workers_of(run_dir) for row in worker.of("send") if row["batch"] < 2]
    assert len(set(contents)) == 2
    assert min(contents) > 0
