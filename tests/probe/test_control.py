"""The page that all processes of a run share: seen at once by all, absent without harm."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from loaderdoctor.probe import control as controlling
from loaderdoctor.probe.control import LOST_RECORDS, NAME, PAGE_BYTES, STOP, Control, create


@pytest.fixture(params=["mapped", "looked at"])
def page(request, tmp_path, monkeypatch):
    if request.param == "looked at":
        monkeypatch.setattr(controlling, "map_file", lambda *_: None)
        monkeypatch.setattr(controlling, "LOOK_EVERY_NS", 0)
    create(str(tmp_path))
    return tmp_path


def test_what_one_says_the_other_knows(page):
    here, there = Control.open(str(page)), Control.open(str(page))
    assert (here.ended, there.word(STOP)) == (False, 0)
    here.set_word(controlling.ENDED, 1)
    there.set_word(STOP, -(2**63))
    assert there.ended
    assert here.word(STOP) == -(2**63)
    assert here.word(LOST_RECORDS) == 0


def test_another_process_knows_it_too(page):
    here = Control.open(str(page))
    source = "import sys; from loaderdoctor.probe.control import Control; Control.open(sys.argv[1]).set_word(1, 7)"
    subprocess.run([sys.executable, "-c", source, str(page)], check=True, timeout=60)
    assert here.word(STOP) == 7


def test_a_fork_knows_it_too(page):
    here = Control.open(str(page))
    pid = os.fork()
    if pid == 0:
        here.set_word(controlling.ENDED, 1)
        os._exit(0)
    os.waitpid(pid, 0)
    assert here.ended


@pytest.mark.parametrize("content", [None, b"", b"\1" * 100])
def test_a_page_that_is_not_there_or_not_whole_says_nothing(tmp_path, content):
    if content is not None:
        (tmp_path / NAME).write_bytes(content)
    control = Control.open(str(tmp_path))
    control.set_word(STOP, 1)
    assert not control.ended
    assert control.word(STOP) == 0


def test_it_keeps_no_descriptor_and_belongs_to_its_user_alone(page):
    before = len(list(Path("/dev/fd").iterdir()))
    control = Control.open(str(page))
    control.set_word(STOP, 1)
    assert control.word(STOP) == 1
    assert len(list(Path("/dev/fd").iterdir())) == before
    assert (page / NAME).stat().st_mode & 0o777 == 0o600
    assert (page / NAME).stat().st_size == PAGE_BYTES


def test_what_is_said_survives_the_file(tmp_path):
    create(str(tmp_path))
    control = Control.open(str(tmp_path))
    (tmp_path / NAME).unlink()
    control.set_word(STOP, 3)
    assert control.word(STOP) == 3
