"""The last lines of a run, on standard error."""

from dataclasses import replace

import pytest
from report_samples import SAMPLES

from loaderdoctor.privacy import MASK
from loaderdoctor.report import Written, terminal
from loaderdoctor.report.view import view


def shown(name, tmp_path, capsys, notes=()):
    files = tuple(tmp_path / file for file in ("report.html", "report.json", "fix.patch"))
    terminal.summary(Written(files, view(*SAMPLES[name]()), notes))
    out, err = capsys.readouterr()
    assert out == ""
    return err.splitlines()


@pytest.mark.parametrize("name", SAMPLES)
def test_about_six_plain_lines_with_the_prefix(name, tmp_path, capsys):
    lines = shown(name, tmp_path, capsys)
    assert 4 <= len(lines) <= 6
    assert all(line.startswith("loaderdoctor: ") for line in lines)
    assert not any("\x1b" in line for line in lines)


def test_the_lines_of_a_starving_run(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert shown("starving", tmp_path, capsys) == [
        "loaderdoctor: The GPU waits for data 58 % of the time: 2 workers cannot make batches as fast as they are used.",
        "loaderdoctor: gain   2.3× as fast, range 1.9–2.5×, simulated from the recorded batches.",
        "loaderdoctor: fix    train.py:9  num_workers=6, persistent_workers=True",
        "loaderdoctor: sure   high",
        "loaderdoctor: files  report.html, report.json, fix.patch",
        "loaderdoctor: next   git apply fix.patch",
    ]


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("advice_only", "loaderdoctor explain device-sync"),
        ("healthy_plain", "loaderdoctor profile train.py --data /mnt/leaves --hf-token '***'"),
        ("unnamed", "loaderdoctor profile train.py --data /mnt/leaves --hf-token '***'"),
    ],
)
def test_the_next_command_without_a_patch(name, command):
    assert list(terminal.lines(Written((), view(*SAMPLES[name]()))))[-1] == f"next   {command}"


def test_notes_on_files_that_are_not_there(tmp_path, capsys):
    note = ("pdf-failed", "report.pdf was not written: odd.")
    assert "loaderdoctor: report.pdf was not written: odd." in shown("healthy", tmp_path, capsys, (note,))


@pytest.mark.parametrize(("no_colour", "coloured"), [(None, True), ("1", False)])
def test_colour_only_on_a_terminal_that_wants_it(no_colour, coloured, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_colour:
        monkeypatch.setenv("NO_COLOR", no_colour)
    assert any("\x1b[1;31m" in line for line in shown("starving", tmp_path, capsys)) is coloured


@pytest.mark.parametrize(
    ("changes", "basis", "said"),
    [
        ({}, "simulated", "loaderdoctor treat runs/one"),
        ({"ended_by": "crash"}, "simulated", "loaderdoctor explain"),  # again it would crash
        (
            {"command": ("python", "train.py", "--token", MASK)},
            "simulated",
            "loaderdoctor explain",
        ),  # nobody can run it again
        ({}, "measured", "loaderdoctor explain"),  # it has been proven
    ],
)
def test_what_can_be_proven_is_to_be_proven_first(changes, basis, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run, signals, diagnosis, *_ = SAMPLES["starving"]()
    here = {"ended_by": "script", "command": ("python", "train.py"), "working_directory": str(tmp_path)}
    meta = replace(run.meta, **here | changes)
    run = replace(run, meta=meta, directory=tmp_path / "runs" / "one")
    first, *others = diagnosis.findings
    diagnosis = replace(diagnosis, findings=(replace(first, gain=replace(first.gain, basis=basis)), *others))
    seen = view(run, replace(signals, training_steps=240), diagnosis)
    assert list(terminal.lines(Written((tmp_path / "fix.patch",), seen)))[-1].startswith(f"next   {said}")
