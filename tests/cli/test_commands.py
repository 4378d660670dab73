"""The commands beside `profile`: report, explain, check, demo."""

from __future__ import annotations

import json
import subprocess
import sys

import builders
import pytest
from click.testing import CliRunner

from loaderdoctor import causes, demo, launch
from loaderdoctor.cli import commands, main

STARVING = "[" + 60 * "wwc" + "]"


@pytest.fixture
def run(tmp_path):
    return builders.write(builders.run_from(STARVING), tmp_path / "run")


def ended(*words, monkeypatch, capsys):
    """(status, stdout, stderr) of the command, as the shell has it."""
    monkeypatch.setattr(sys, "argv", ["loaderdoctor", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code, *capsys.readouterr()


def test_report_renders_a_run_again(run, tmp_path, monkeypatch, capsys):
    status, out, err = ended(
        "report", run, "-o", tmp_path / "new", "--format", "json, md", monkeypatch=monkeypatch, capsys=capsys
    )
    assert (status, out) == (0, "")
    assert {"report.json", "report.md"} <= {path.name for path in (tmp_path / "new").iterdir()}
    assert json.loads((tmp_path / "new" / "report.json").read_text())["verdict"]["status"] == "starving"
    assert all(line.startswith("loaderdoctor: ") for line in err.splitlines())
    assert "report.md" in err


def test_report_writes_beside_the_run_by_default(run, monkeypatch, capsys):
    status, _, _ = ended("report", run, "--format", "html", monkeypatch=monkeypatch, capsys=capsys)
    assert status == 0
    assert (run / "report.html").exists()
    assert not (run / "report.json").exists()


MISTAKES = {
    "no run there": (["report", "gone"], 2, "not-a-run"),
    "no run in it": (["report", "."], 2, "not-a-run"),
    "no such format": (["report", "RUN", "--format", "docx"], 2, "unknown-format"),
    "a file in the way": (["report", "RUN", "-o", "/proc/nowhere", "--format", "json"], 3, "output-unusable"),
    "no such cause": (["explain", "no-worker"], 2, "unknown-cause"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_one_sentence(case, run, monkeypatch, capsys, tmp_path):
    words, expected, slug = MISTAKES[case]
    monkeypatch.chdir(tmp_path)
    words = [run if word == "RUN" else word for word in words]
    status, out, err = ended(*words, monkeypatch=monkeypatch, capsys=capsys)
    assert (status, out, len(err.splitlines())) == (expected, "", 1)
    assert err.startswith("loaderdoctor: ")
    assert err.endswith(f"[{slug}]\n")


def test_explain_lists_every_cause():
    listed = CliRunner().invoke(commands, ["explain"], catch_exceptions=False).stdout
    assert all(cause.id in listed for cause in causes.CAUSES)


def test_explain_shows_a_page():
    page = CliRunner().invoke(commands, ["explain", "no-workers"], catch_exceptions=False).stdout
    assert "How loaderdoctor sees it" in page


def test_explain_knows_what_was_meant(monkeypatch, capsys):
    _, _, err = ended("explain", "no-worker", monkeypatch=monkeypatch, capsys=capsys)
    assert "Did you mean no-workers?" in err


@pytest.mark.parametrize("fact", ["CPUs allowed", "memory", "open files", "torch", "NVIDIA GPU", "PDF"])
def test_check_says_what_this_machine_allows(fact):
    checked = CliRunner().invoke(commands, ["check"], catch_exceptions=False)
    assert checked.exit_code == 0
    assert any(line.startswith(fact) for line in checked.stdout.splitlines())


def test_demo_profiles_the_script_that_ships_with_the_package(monkeypatch, tmp_path):
    seen = []

    def fake(command, options):
        seen.append((command, options))
        return launch.Launched(tmp_path, 0)

    monkeypatch.setattr(launch, "launch", fake)
    monkeypatch.setattr("loaderdoctor.cli.demo.finish", lambda *_, **__: None)
    CliRunner().invoke(commands, ["demo", "--steps", "5", "-o", "out"], catch_exceptions=False)
    ((command, options),) = seen
    assert command.argv == (sys.executable, str(demo.SCRIPT))
    assert options == launch.Options(output="out", steps=5)


@pytest.mark.parametrize("command", ["", *commands.commands])
def test_every_command_explains_itself(command):
    shown = CliRunner().invoke(commands, [*filter(None, [command]), "-h"], catch_exceptions=False)
    assert (shown.exit_code, "Usage: " in shown.stdout) == (0, True)


def test_warnings_asked_for_are_the_scripts():
    words = [sys.executable, "-W", "always", "-m", "loaderdoctor", "explain"]
    assert subprocess.run(words, capture_output=True, check=True).stderr == b""
