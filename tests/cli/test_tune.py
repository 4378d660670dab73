"""What `loaderdoctor tune` makes of a command line; nothing runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from loaderdoctor.cli import main
from loaderdoctor.errors import LoaderDoctorError

PYTHON = sys.executable


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """The task that a command line asks for."""
    monkeypatch.chdir(tmp_path)
    Path("train.py").touch()
    seen = []

    def climb(task, tell):  # noqa: ARG001 - as the real one
        seen.append(task)
        raise LoaderDoctorError("nothing-to-tune", "There is nothing to tune.")

    monkeypatch.setattr("loaderdoctor.tune.climb.climb", climb)

    def of(words):
        monkeypatch.setattr(sys, "argv", ["loaderdoctor", "tune", *words.split()])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, (seen or [None])[-1]

    return of


@pytest.mark.parametrize(
    ("words", "argv", "steps", "runs"),
    [
        ("train.py", [PYTHON, "train.py"], None, 6),
        ("train.py --steps 3 -m x", [PYTHON, "train.py", "--steps", "3", "-m", "x"], None, 6),
        ("--steps 50 --runs 3 train.py --lr 1", [PYTHON, "train.py", "--lr", "1"], 50, 3),
        ("-m package.train -x", [PYTHON, "-m", "package.train", "-x"], None, 6),
        ("-- torchrun --nproc 2 train.py", ["torchrun", "--nproc", "2", "train.py"], None, 6),
    ],
)
def test_a_command_is_given_as_to_profile(asked, words, argv, steps, runs):
    status, task = asked(words)
    assert status == 2
    assert (list(task.command.argv), task.steps, task.most_runs) == (argv, steps, runs)


def test_runs_are_kept_with_the_others_or_where_one_says(asked):
    assert asked("train.py")[1].folder.parent == Path("loaderdoctor-runs").absolute()
    assert asked("-o here train.py")[1].folder == Path("here").absolute()


@pytest.mark.parametrize("words", ["gone.py", "--runs 1 train.py", "--steps 3 train.py", ""])
def test_a_mistake_runs_nothing(asked, words):
    status, task = asked(words)
    assert (status, task) == (2, None)
