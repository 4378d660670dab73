"""`loaderdoctor compare` from its words to its status."""

from __future__ import annotations

import json
import sys

import builders
import pytest

from loaderdoctor.cli import main

WAITS, FED = "[" + 60 * "wwc" + "]", "[" + 60 * "wc" + "]"


@pytest.fixture
def runs(tmp_path):
    drawn = {
        "slow": builders.run_from(WAITS),
        "fast": builders.run_from(FED),
        "other": builders.run_from(FED, settings={"batch_size": 3}),
    }
    return {name: builders.write(run, tmp_path / name) for name, run in drawn.items()}


@pytest.fixture
def ended(monkeypatch, capsys):
    """(status, stdout, stderr) of the command, as the shell has it."""
    return lambda *words: _ended(words, monkeypatch, capsys)


def _ended(words, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["loaderdoctor", "compare", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code or 0, *capsys.readouterr()


@pytest.mark.parametrize(
    ("before_after", "options", "status"),
    [
        (("slow", "fast"), (), 0),
        (("fast", "slow"), (), 0),
        (("slow", "fast"), ("--fail-on", "slower"), 0),
        (("slow", "slow"), ("--fail-on", "slower"), 0),
        (("fast", "slow"), ("--fail-on", "slower"), 1),
        (("fast", "other"), ("--fail-on", "slower"), 0),
        (("fast", "other"), ("--fail-on", "slower", "--fail-on", "not-comparable"), 1),
    ],
)
def test_the_status_is_1_on_the_verdicts_that_are_named(runs, before_after, options, status, ended):
    code, out, err = ended(*(runs[name] for name in before_after), *options)
    assert (code, err) == (status, "")
    assert 1 <= len(out.splitlines()) <= 8


def test_json_on_standard_output_is_json_alone(runs, ended):
    _, out, _ = ended(runs["slow"], runs["fast"], "--format", "json")
    assert json.loads(out)["verdict"] == "faster"


def test_a_folder_that_is_no_run_is_one_sentence(runs, tmp_path, ended):
    code, out, err = ended(runs["slow"], tmp_path)
    assert (code, out) == (2, "")
    assert err.rstrip().endswith("[not-a-run]")
