"""`loaderdoctor treat` from its words to its lines; what runs is a fake."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import builders
import pytest
from click.testing import CliRunner

from loaderdoctor import pipeline
from loaderdoctor.cli import commands, main
from loaderdoctor.treat.gains import Pace
from loaderdoctor.treat.reached import Reached
from loaderdoctor.treat.trials import AS_WRITTEN, TREATED, Trial, Trials
from loaderdoctor.values import Measured

STARVING = "[" + 60 * "wwc" + "]"
SHARES = {AS_WRITTEN: 0.6, TREATED: 0.1}


@pytest.fixture
def run(tmp_path):
    drawn = builders.run_from(STARVING, cpu_share=0.2, meta={"working_directory": str(tmp_path)})
    return builders.write(drawn, tmp_path / "run")


@pytest.fixture
def trials(monkeypatch):
    """What was asked to run, where every run is told; treated steps take half."""
    asked = []

    def try_out(plan, limits, *, tell):
        asked.append((plan, limits))
        done = Trials(())
        for kind in (AS_WRITTEN, TREATED, TREATED, AS_WRITTEN)[: limits.most_runs]:
            pace = Pace(6.0 if kind == AS_WRITTEN else 3.0, 100)
            share = Measured.exact(SHARES[kind], "share")
            trial = Trial(kind, plan.directory / kind, pace, share, Reached(1, 1))
            done = Trials((*done.trials, trial))
            tell(trial, done)
        return done

    monkeypatch.setattr("loaderdoctor.treat.trials.try_out", try_out)
    return asked


def ended(*words, monkeypatch, capsys):
    """(status, stdout, lines of stderr) of the command, as the shell has it."""
    monkeypatch.setattr(sys, "argv", ["loaderdoctor", "treat", *map(str, words)])
    try:
        main()
        status = 0
    except SystemExit as end:
        status = end.code or 0
    out, err = capsys.readouterr()
    return status, out, err.splitlines()


@pytest.mark.usefixtures("trials")
def test_it_says_what_runs_before_it_does_and_what_came_of_it(run, monkeypatch, capsys):
    status, out, lines = ended(run, "--no-pdf", monkeypatch=monkeypatch, capsys=capsys)
    assert (status, out) == (0, "")
    assert all(line.startswith("loaderdoctor: ") for line in lines)
    assert "`python train.py` 4 to 12 times" in lines[0]
    assert "num_workers=" in lines[0]
    assert len(lines[5:]) <= 8
    told = "\n".join(lines[5:])
    assert "Measured: 2.0× as fast" in told
    assert "4 runs of 100 steps" in told
    assert "Promised: " in told
    assert "60 % as it is written, 10 % treated" in told
    assert "treated.json, report.html, report.json" in told


@pytest.mark.usefixtures("trials")
def test_the_reports_of_the_run_say_it_too_and_again(run, monkeypatch, capsys):
    ended(run, "--no-pdf", monkeypatch=monkeypatch, capsys=capsys)
    capsys.readouterr()
    CliRunner().invoke(commands, ["report", str(run), "--format", "json,md,html"], catch_exceptions=False)
    report = json.loads((run / "report.json").read_text())
    first = report["findings"][0]
    assert (first["gain"]["basis"], first["promised"]["basis"]) == ("measured", "simulated")
    assert first["gain"]["speedup"]["best"] == pytest.approx(2)
    assert report["treated"][0]["verdict"] in {"came-true", "above-promise", "below-promise"}
    for name in ("report.md", "report.html"):
        assert "romised" in (run / name).read_text()
        assert "Tried" in (run / name).read_text() or name == "report.md"


@pytest.mark.usefixtures("trials")
def test_the_reports_are_in_chinese_where_that_is_asked_for(run, monkeypatch, capsys):
    _, _, lines = ended(run, "--no-pdf", "--lang", "zh", monkeypatch=monkeypatch, capsys=capsys)
    assert any("实测" in line for line in lines)


ASKED = [  # words -> settings (None: as prescribed), least and most runs, steps
    ((), None, (4, 12), None),
    (("--set", "num_workers=3"), {"num_workers": 3}, (4, 12), None),
    (
        ("--set", "num_workers=3", "--set", "prefetch_factor=4"),
        {"num_workers": 3, "prefetch_factor": 4},
        (4, 12),
        None,
    ),
    (("--runs", "2", "--steps", "50"), None, (2, 2), 50),
    (("--runs", "20"), None, (4, 20), None),
]


@pytest.mark.parametrize("words_and_what", ASKED)
def test_what_is_asked_for_is_what_is_tried(words_and_what, run, trials, monkeypatch, capsys):
    words, settings, runs, steps = words_and_what
    status, _, _ = ended(run, "--no-pdf", *words, monkeypatch=monkeypatch, capsys=capsys)
    ((plan, limits),) = trials
    assert status == 0
    assert (limits.least_runs, limits.most_runs) == runs
    assert plan.again.steps == steps
    assert plan.again.command.argv == ("python", "train.py")
    if settings is not None:
        assert plan.remedy.settings == settings


def test_a_ceiling_is_marked_before_and_after(run, trials, monkeypatch, capsys):
    for lang, marks in (("en", "what was trained does not"), ("zh", "训练结果没有")):
        status, _, lines = ended(run, "--no-pdf", "--ceiling", "--lang", lang, monkeypatch=monkeypatch, capsys=capsys)
        assert (status, trials[-1][0].remedy.is_ceiling) == (0, True)
        assert "one kept batch, which trains nothing" in lines[0]
        assert marks in "\n".join(lines[1:])


def test_a_command_after_dashes_takes_the_place_of_the_recorded_one(run, trials, monkeypatch, capsys):
    ended(run, "--no-pdf", "--", "python", "-m", "other", "--set", "x", monkeypatch=monkeypatch, capsys=capsys)
    assert trials[0][0].again.command.argv == ("python", "-m", "other", "--set", "x")


MISTAKES = {
    "no run there": (["gone"], 2, "not-a-run"),
    "no such setting": (["RUN", "--set", "worker=2"], 2, "setting-unknown"),
    "a value of another type": (["RUN", "--set", "num_workers=x"], 2, "setting-of-another-type"),
    "a setting that torch refuses": (["RUN", "--set", "prefetch_factor=2"], 2, "setting-refused"),
    "no such loader": (["RUN", "--set", "num_workers=2", "--loader", "x"], 2, "loader-unknown"),
    "as it is": (["RUN", "--set", "num_workers=0"], 2, "nothing-to-try"),
    "settings of no loader": (["RUN", "--ceiling", "--set", "num_workers=2"], 2, "setting-refused"),
    "nobody to ask": (["RUN", "--write"], 3, "patch-refused"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_one_sentence_and_nothing_runs(case, run, trials, monkeypatch, capsys):
    words, expected, slug = MISTAKES[case]
    monkeypatch.chdir(run.parent)
    words = [run if word == "RUN" else word for word in words]
    status, out, lines = ended(*words, monkeypatch=monkeypatch, capsys=capsys)
    assert (status, out, len(lines), trials) == (expected, "", 1, [])
    assert lines[0].endswith(f"[{slug}]")


def test_an_interrupt_before_there_is_one_of_each_measures_nothing(run, monkeypatch, capsys):
    monkeypatch.setattr("loaderdoctor.treat.trials.try_out", lambda *_, **__: Trials((), interrupted=True))
    status, _, lines = ended(run, monkeypatch=monkeypatch, capsys=capsys)
    assert (status, lines[-1][-len("[treat-interrupted]") :]) == (3, "[treat-interrupted]")
    assert not (run / "treated.json").exists()


SOURCE = 41 * "\n" + "loader = DataLoader(data, num_workers=0)\n"


@pytest.fixture
def in_git(tmp_path, monkeypatch):
    """A run of a script that lies in a repository, committed."""
    (tmp_path / "train.py").write_text(SOURCE)
    drawn = builders.run_from(STARVING, cpu_share=0.2, meta={"working_directory": str(tmp_path)})
    run = builders.write(drawn, tmp_path / "run")
    site = pipeline.diagnose(run).signals.main.site
    (run / "sources.json").write_text(json.dumps({site.file: SOURCE}))
    (tmp_path / ".gitignore").write_text("run\n")
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "c"]):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    monkeypatch.chdir(tmp_path)
    signals = pipeline.diagnose(run)
    placed = replace(signals.signals.main, site=replace(site, file=str(tmp_path / "train.py")))
    found = tuple(replace(one, site=placed.site) for one in signals.diagnosis.findings)
    moved = replace(
        signals,
        run=replace(signals.run, sources={str(tmp_path / "train.py"): SOURCE}),
        signals=replace(signals.signals, loaders=(placed,)),
        diagnosis=replace(signals.diagnosis, findings=found),
    )
    monkeypatch.setattr(pipeline, "diagnose", lambda _: moved)
    return run


def test_the_patch_is_written_where_that_is_said(in_git, trials, monkeypatch, capsys):
    status, _, lines = ended(in_git, "--write", "--yes", monkeypatch=monkeypatch, capsys=capsys)
    assert (status, trials) == (0, [])
    assert "git diff" in lines[-1]
    assert "num_workers=0" not in (in_git.parent / "train.py").read_text()


@pytest.mark.parametrize(("answer", "is_edited"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_the_patch_is_written_after_asking(answer, is_edited, in_git, tmp_path, monkeypatch):
    monkeypatch.setattr("loaderdoctor.cli.treat.is_somebody_there", lambda: True)
    done = CliRunner().invoke(commands, ["treat", str(in_git), "--write"], input=answer, catch_exceptions=False)
    assert done.exit_code == 0
    assert "+loader = DataLoader" in done.stderr
    assert ((tmp_path / "train.py").read_text() != SOURCE) is is_edited


def test_a_script_with_changes_is_left_alone(in_git, tmp_path, monkeypatch, capsys):
    (tmp_path / "train.py").write_text(SOURCE + "# more\n")
    status, _, lines = ended(in_git, "--write", "--yes", monkeypatch=monkeypatch, capsys=capsys)
    assert (status, lines[-1].endswith("[patch-refused]")) == (3, True)
    assert (tmp_path / "train.py").read_text() == SOURCE + "# more\n"
