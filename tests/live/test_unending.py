"""A script that never ends: its report is there and right while it runs, and after everybody was killed."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

pytestmark = pytest.mark.slow

WAIT_S = 120
# Half of each step is the wait for a batch, by its own stopwatch, which it keeps in a file.
SCRIPT = """
import json, os, time, torch
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 60
    def __getitem__(self, index):
        time.sleep(0.01)
        return torch.ones(1)

model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), 1e-6)
waited_s = steps = 0
while True:
    asked_s = time.perf_counter()
    began_s = asked_s if not steps else began_s
    for batch in DataLoader(Slow(), batch_size=1):
        waited_s += time.perf_counter() - asked_s
        model(batch).sum().backward()
        optimizer.step()
        time.sleep(0.01)
        steps += 1
        asked_s = time.perf_counter()
    with open("new", "w") as file:
        json.dump({"share": waited_s / (asked_s - began_s), "pid": os.getpid()}, file)
    os.replace("new", "stopwatch")
"""
# `loaderdoctor profile`, in a greater hurry.
TOOL = """
from functools import partial
from loaderdoctor import launch
from loaderdoctor.live import Beside, Pace

pace = Pace(share=1.0, first_s=2.0, least_s=0.5, poll_s=0.1)
options = launch.Options(output="run", beside=partial(Beside, pace=pace))
launch.launch(launch.of_script("script.py", []), options)
"""


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """The tool on the script that never ends, in a session of theirs; nothing of them is left."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text(SCRIPT)
    process = subprocess.Popen([sys.executable, "-c", TOOL], start_new_session=True, stdin=subprocess.DEVNULL)
    yield process
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def awaited(path, is_it=lambda _: True):
    """What the JSON file holds, once it is there and as wanted."""
    until_s = time.monotonic() + WAIT_S
    while time.monotonic() < until_s:
        if path.exists():
            found = json.loads(path.read_text())  # never half of one
            if is_it(found):
                return found
        time.sleep(0.05)
    pytest.fail(f"{path} did not come")


def test_the_report_is_there_and_right_and_outlives_them_all(tool, tmp_path):
    first = awaited(tmp_path / "run" / "report.json")
    later = awaited(
        tmp_path / "run" / "report.json", lambda new: new["loaders"][0]["batches"] > first["loaders"][0]["batches"]
    )
    stopwatch = awaited(tmp_path / "stopwatch")
    assert tool.poll() is None
    for report in (first, later):
        assert report["run"]["ended_by"] == "running"
        assert (report["run"]["exit_code"], report["run"]["duration_s"]) == (None, None)
        assert "still-running" in {note["slug"] for note in report["notes"]}
        assert report["verdict"]["cause"] == "no-workers"
        assert report["environment"]["cpus_allowed"] > 0
    assert later["verdict"]["starved_share"]["best"] == pytest.approx(stopwatch["share"], abs=0.05)
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "run").glob("report.*")} == {0o600}
    assert not (tmp_path / "run" / "report.pdf").exists()

    tool.kill()  # the tool alone: its script goes on
    tool.wait()
    os.kill(stopwatch["pid"], 0)
    os.kill(stopwatch["pid"], signal.SIGKILL)
    assert awaited(tmp_path / "run" / "report.json")["verdict"]["status"] == "starving"
    subprocess.run(
        [sys.executable, "-m", "loaderdoctor", "report", "run", "-o", "after", "--format", "json"],
        check=True, timeout=WAIT_S, capture_output=True,
    )  # fmt: skip
    after = awaited(tmp_path / "after" / "report.json")
    assert after["run"]["ended_by"] == "running"
    assert after["loaders"][0]["batches"] >= later["loaders"][0]["batches"]


def test_the_end_takes_the_place_of_a_report_that_is_being_made(tool, tmp_path):
    awaited(tmp_path / "run" / "report.json")
    os.killpg(tool.pid, signal.SIGINT)
    assert tool.wait(timeout=WAIT_S) == 0
    assert json.loads((tmp_path / "run" / "run.json").read_text())["ended_by"] == "interrupt"
    assert [path.name for path in (tmp_path / "run").glob(".report*")] == []
    assert (
        awaited(tmp_path / "run" / "report.json")["run"]["ended_by"] == "running"
    )  # nobody has made the last one here
