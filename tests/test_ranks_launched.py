"""Ranks as launchers really start them: one run and one report, and of each rank the share that its own stopwatch says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from under_the_tool import PIPELINES, profiled, read_stopwatch, starved_share

pytestmark = pytest.mark.slow

SHARE_POINTS = 0.03
SCRIPT = str(PIPELINES / "ranks.py")
TORCHRUN = [str(Path(sys.executable).with_name("torchrun")), "--standalone", "--nproc-per-node", "2"]
LAUNCHED = {
    "torchrun": [*TORCHRUN, SCRIPT],
    "spawned, meeting in a file": [sys.executable, SCRIPT, "file"],
    "spawned, meeting at a port": [sys.executable, SCRIPT, "tcp"],
}


def times_of(folder):
    return [read_stopwatch(folder / f"times{rank}") for rank in (0, 1)]


@pytest.mark.parametrize("how", LAUNCHED)
def test_each_rank_waits_as_long_as_it_says_itself(how, tmp_path):
    _, report = profiled(["--", *LAUNCHED[how]], tmp_path, STOPWATCH=str(tmp_path / "times"))
    times = times_of(tmp_path)

    assert [one["rank"] for one in report["ranks"]] == [0, 1]
    for rank, loops in zip(report["ranks"], times, strict=True):
        assert rank["starved_share"] == pytest.approx(starved_share(loops), abs=SHARE_POINTS)
        assert rank["batches"] == sum(map(len, loops))
        assert rank["host"] == "host-1"
    assert report["verdict"]["starved_share"]["best"] == pytest.approx(starved_share(*times), abs=SHARE_POINTS)
    assert report["verdict"]["cause"] == "input-straggler"
    assert report["ranks"][1]["last_share"] > 0.9
    assert report["trainings"] == []


def test_processes_that_exchange_nothing_are_trainings_of_their_own(tmp_path):
    _, report = profiled(["--", sys.executable, SCRIPT, "hogwild"], tmp_path, STOPWATCH=str(tmp_path / "times"))
    shares = sorted(starved_share(loops) for loops in times_of(tmp_path))

    assert report["ranks"] == []
    assert sorted(one["starved_share"] for one in report["trainings"]) == pytest.approx(shares, abs=SHARE_POINTS)
    assert any(report["verdict"]["starved_share"]["best"] == pytest.approx(one, abs=SHARE_POINTS) for one in shares)
    assert "separate-trainings" in [note["slug"] for note in report["notes"]]
