"""What `loaderdoctor profile` makes of a command line, and the status it ends with."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from loaderdoctor import launch
from loaderdoctor.cli import commands, reporting
from loaderdoctor.errors import ExitCode, LoaderDoctorError

PYTHON = sys.executable


@pytest.fixture
def launched(monkeypatch, tmp_path):
    """What was launched; nothing runs."""
    monkeypatch.chdir(tmp_path)
    Path("train.py").touch()
    seen = SimpleNamespace(argv=None, options=None, finish=None)

    def fake(command, options):
        seen.argv, seen.options = list(command.argv), options
        return launch.Launched(tmp_path, 0)

    monkeypatch.setattr(launch, "launch", fake)
    monkeypatch.setattr("loaderdoctor.cli.profile.finish", lambda _, **how: vars(seen).update(finish=how))
    return seen


COMMANDS = {
    # after `loaderdoctor profile`          what is started
    "train.py": [PYTHON, "train.py"],
    "train.py --steps 3 -m x -- -o y": [PYTHON, "train.py", "--steps", "3", "-m", "x", "--", "-o", "y"],
    "--steps 9 train.py": [PYTHON, "train.py"],
    "-m pkg.train": [PYTHON, "-m", "pkg.train"],
    "-m pkg.train -m x --lang zh": [PYTHON, "-m", "pkg.train", "-m", "x", "--lang", "zh"],
    "-m --no-pdf pkg.train --no-pdf": [PYTHON, "-m", "pkg.train", "--no-pdf"],
    "-- torchrun train.py": ["torchrun", "train.py"],
    "-- torchrun -- train.py": ["torchrun", "--", "train.py"],
    "-o out -- train.py": ["train.py"],
    "-o out -- -odd-name --": ["-odd-name", "--"],
}


@pytest.mark.parametrize("line", COMMANDS)
def test_what_is_started(line, launched):
    result = CliRunner().invoke(commands, ["profile", *line.split()], catch_exceptions=False)
    assert (result.exit_code, result.output) == (0, "")
    assert launched.argv == COMMANDS[line]


def test_options_are_ours_before_the_script_only(launched):
    line = "-o out --steps 9 --seconds 2.5 --no-pdf --lang zh --fail-on starving train.py --steps 3"
    CliRunner().invoke(commands, ["profile", *line.split()], catch_exceptions=False)
    assert replace(launched.options, beside=None) == launch.Options(output="out", steps=9, seconds=2.5)
    assert launched.finish == {"formats": ("html", "json"), "lang": "zh", "fail_on": "starving"}


def test_without_options(launched):
    CliRunner().invoke(commands, ["profile", "train.py"], catch_exceptions=False)
    assert replace(launched.options, beside=None) == launch.Options()
    assert launched.finish == {"formats": ("html", "pdf", "json"), "lang": "en", "fail_on": None}


REFUSED = [
    "--steps 0 train.py",
    "--seconds 0 train.py",
    "--lang xx train.py",
    "--fail-on healthy train.py",
    "--stesp 1 x",
]


@pytest.mark.parametrize("line", REFUSED)
def test_an_option_that_makes_no_sense_starts_nothing(line, launched):
    assert CliRunner().invoke(commands, ["profile", *line.split()]).exit_code == ExitCode.USAGE
    assert launched.argv is None


STATUSES = [
    # script's, verdict, --fail-on -> ours
    (0, "starving", None, 0),
    (0, "starving", "starving", 1),
    (0, "healthy", "starving", 0),
    (0, "unknown", "starving", 0),
    (7, "starving", "starving", 7),
    (7, "healthy", None, 7),
]


@pytest.mark.parametrize("case", STATUSES)
def test_the_status(case, monkeypatch, tmp_path):
    script, verdict, fail_on, ours = case
    diagnosed = SimpleNamespace(diagnosis=SimpleNamespace(status=verdict))
    monkeypatch.setattr(reporting, "report_on", lambda *_: diagnosed)
    with pytest.raises(SystemExit) as ended:
        reporting.finish(launch.Launched(tmp_path, script), formats=("json",), lang="en", fail_on=fail_on)
    assert ended.value.code == ours


FAULTS = {
    "a run without records": (LoaderDoctorError("not-a-run", "It is no run."), "It is no run. [not-a-run]"),
    "ctrl-c": (KeyboardInterrupt(), "interrupted before the report was written"),
    "a bug": (ZeroDivisionError("deep inside"), "by a fault of ours"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_what_goes_wrong_in_the_report_is_one_sentence_and_leaves_the_status(case, monkeypatch, tmp_path, capsys):
    error, sentence = FAULTS[case]

    def fails(*_):
        raise error

    monkeypatch.setattr(reporting, "report_on", fails)
    with pytest.raises(SystemExit) as ended:
        reporting.finish(launch.Launched(tmp_path, 3), formats=("json",), lang="en", fail_on="starving")
    out, err = capsys.readouterr()
    assert (ended.value.code, out, len(err.splitlines())) == (3, "", 1)
    assert err.startswith("loaderdoctor: ")
    assert sentence in err


def test_a_bug_is_kept_in_the_run(monkeypatch, tmp_path):
    def fails(*_):
        message = "deep inside"
        raise ZeroDivisionError(message)

    monkeypatch.setattr(reporting, "report_on", fails)
    with pytest.raises(SystemExit):
        reporting.finish(launch.Launched(tmp_path, 0), formats=("json",), lang="en")
    assert "ZeroDivisionError: deep inside" in (tmp_path / reporting.FAULT_FILE).read_text()
