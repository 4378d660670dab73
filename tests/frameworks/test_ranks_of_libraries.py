"""Ranks as the launchers of other libraries start them: of each the share that its own stopwatch says, in one report."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from installed import need
from under_the_tool import PIPELINES, profiled, read_stopwatch, starved_share

pytestmark = pytest.mark.slow

SCRIPTS = Path(__file__).with_name("scripts")
SHARE_POINTS = 0.03
TORCHRUN = [str(Path(sys.executable).with_name("torchrun")), "--standalone", "--nproc-per-node", "2"]
# name: module that it imports, command
LAUNCHED = {
    "lightning ddp": ("lightning.pytorch", [sys.executable, str(SCRIPTS / "lightning_ranks.py"), "ddp"]),
    "lightning ddp_spawn": ("lightning.pytorch", [sys.executable, str(SCRIPTS / "lightning_ranks.py"), "ddp_spawn"]),
    "transformers": ("transformers", [*TORCHRUN, str(SCRIPTS / "transformers_ranks.py")]),
    "ray": ("ray.train.torch", [sys.executable, str(SCRIPTS / "ray_ranks.py")]),
}


@pytest.mark.parametrize("name", LAUNCHED)
def test_each_rank_waits_as_long_as_it_says_itself(name, tmp_path):
    module, command = LAUNCHED[name]
    need(module)
    paths = os.pathsep.join(map(str, (PIPELINES, SCRIPTS)))
    environment = {"PYTHONPATH": paths, "STOPWATCH": str(tmp_path / "times"), "HF_HUB_OFFLINE": "1"}
    _, report = profiled(["--", *command], tmp_path, **environment, RAY_USAGE_STATS_ENABLED="0")
    times = [read_stopwatch(tmp_path / f"times{rank}") for rank in (0, 1)]

    assert [one["rank"] for one in report["ranks"]] == [0, 1]
    for rank, loops in zip(report["ranks"], times, strict=True):
        assert rank["starved_share"] == pytest.approx(starved_share(loops), abs=SHARE_POINTS)
    assert report["verdict"]["starved_share"]["best"] == pytest.approx(starved_share(*times), abs=SHARE_POINTS)
    assert (report["verdict"]["status"], report["verdict"]["cause"]) == ("starving", "no-workers")
