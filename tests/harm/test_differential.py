"""Scripts alone and under the tool: the same status, the same output, the same traces, however they end."""

from __future__ import annotations

import json
import sys

import pytest
from side_by_side import SCRIPTS, TOOL, begin, end

pytestmark = pytest.mark.slow


def both(folder, *words):
    """The script alone and under the tool, at the same time; each in a folder of its own."""
    alone = begin([sys.executable, *words], folder / "alone")
    under = begin([*TOOL, *words], folder / "under")
    return end(alone), end(under)


def report(folder):
    return json.loads((folder / "under" / "run" / "report.json").read_text())


# How each is told to have ended; None: no report can be made.
ENDS = {
    "to the end": "script",
    "a worker raises": "crash",
    "the main process raises in next": "crash",
    "a worker has no memory left": "crash",
    "abort": "signal",
    "segmentation fault": "signal",
    "killed": "signal",
    "becomes another": "script",
    "forks": "script",
    "loses its run": None,
}


@pytest.mark.parametrize("name", ENDS)
def test_a_script_ends_as_it_does_alone(tmp_path, name):
    alone, under = both(tmp_path, str(SCRIPTS / "ends.py"), name)
    assert under == alone
    if ENDS[name] is not None:
        assert report(tmp_path)["run"]["ended_by"] == ENDS[name]
        assert report(tmp_path)["loaders"]


def test_records_that_find_no_room_are_said_and_leave_the_verdict_open(tmp_path):
    alone, under = both(tmp_path, str(SCRIPTS / "ends.py"), "cannot write")
    assert under == alone
    told = report(tmp_path)
    (note,) = (note["text"] for note in told["notes"] if note["slug"] == "records-lost")
    assert "a limit on the size of files" in note
    assert told["overhead"]["lost_records"] > 1000
    assert told["verdict"]["status"] == "unknown"


def test_a_script_notices_nothing(tmp_path):
    alone, under = both(tmp_path, str(SCRIPTS / "lives.py"))
    assert under == alone
    assert alone.status == 0
    assert len(list((tmp_path / "under" / "run" / "records").iterdir())) <= 3
    assert report(tmp_path)["loaders"]
