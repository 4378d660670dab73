"""The thread that asks the samplers: what it writes, and that nothing ends it."""

import json
import sys

import pytest
from real_processes import PARENT, open_descriptors, running

from loaderdoctor import sample
from loaderdoctor.sample.loop import MOST_FAILURES, Sampling, row_interval_s


class Tree:
    def pids(self):
        return [7, 8]


class Counting:
    def __init__(self, name, answer):
        self.name, self.answer, self.asked = name, answer, []

    def sample(self, pids):
        self.asked.append(pids)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def notes(self):
        return [(f"{self.name}-note", "A sentence.")]


def rows(folder, name):
    file = folder / f"{name}.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_each_sampler_has_a_file_of_rows_with_their_time(tmp_path):
    one, silent = Counting("one", {"x_s": 1.5}), Counting("silent", None)
    sampling = Sampling(tmp_path, [one, silent], Tree())
    sampling.write_rows()
    sampling.write_rows()
    first, second = rows(tmp_path, "one")
    assert first["x_s"] == 1.5
    assert 0 < first["at_ns"] <= second["at_ns"]
    assert one.asked == [[7, 8]] * 2
    assert rows(tmp_path, "silent") == []
    assert sampling.notes == [("one-note", "A sentence."), ("silent-note", "A sentence.")]


def test_a_sampler_that_keeps_failing_is_dropped_and_noted_and_the_others_go_on(tmp_path):
    bad, good = Counting("bad", RuntimeError("no driver")), Counting("good", {"x": 1})
    sampling = Sampling(tmp_path, [bad, good], Tree())
    for _ in range(MOST_FAILURES + 2):
        sampling.write_rows()
    assert len(bad.asked) == MOST_FAILURES
    assert len(rows(tmp_path, "good")) == MOST_FAILURES + 2
    assert dict(sampling.notes)["sampler-failed"] == "The sampler of bad failed: RuntimeError: no driver"


def test_a_tree_that_fails_leaves_the_machine_to_be_sampled(tmp_path):
    class Broken:
        def pids(self):
            raise OSError

    good = Counting("good", {"x": 1})
    Sampling(tmp_path, [good], Broken()).write_rows()
    assert good.asked == [()]


def test_rows_that_cannot_be_written_are_noted(tmp_path):
    (tmp_path / "folder").write_text("a file in its place")
    sampling = Sampling(tmp_path / "folder", [Counting("one", {"x": 1})], Tree())
    sampling.write_rows()
    assert "samples-lost" in dict(sampling.notes)


@pytest.mark.parametrize(("elapsed_s", "interval_s"), [(0, 1), (60, 1), (600, 1), (1200, 2), (6000, 10), (1e6, 30)])
def test_rows_grow_rarer_in_long_runs(elapsed_s, interval_s):
    assert row_interval_s(elapsed_s) == interval_s


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_real_tree_is_sampled_from_start_to_stop(tmp_path):
    before = open_descriptors()
    with running(PARENT) as process:
        sampling = sample.start(tmp_path, process.pid)
        sampling.stop()
    assert open_descriptors() <= before, "every descriptor is given back"
    folder = tmp_path / "samples"
    last = rows(folder, "processes")[-1]
    assert len(last["processes"]) == 3
    assert last["processes"][0]["pid"] == process.pid
    for name in ("machine", "disks", "shm"):
        assert len(rows(folder, name)) >= 1, name
    assert rows(folder, "sampling")[-1]["cpu_s"] > 0
    assert [slug for slug, _ in sampling.notes if slug == "sampler-failed"] == []


def test_sampling_a_process_that_is_already_gone_is_no_error(tmp_path):
    with running(PARENT) as process:
        pass
    sampling = sample.start(tmp_path, process.pid)
    sampling.stop()
    assert rows(tmp_path / "samples", "processes") == []
    assert "sampler-failed" not in dict(sampling.notes)
