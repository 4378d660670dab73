"""Whole scripts, profiled and treated: what is tried reaches the training, that loader alone, and gains what it must."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from loaderdoctor import pipeline, record
from loaderdoctor.probe.layout import ROLE_MAIN

pytestmark = pytest.mark.slow
SCRIPT = Path(__file__).with_name("sleepers.py")
LINE = 1 + SCRIPT.read_text().splitlines().index("    loader = DataLoader(Waits(), batch_size=4, shuffle=True)")


def tool(*words, check=True, **variables):
    command = [sys.executable, "-m", "loaderdoctor", *map(str, words)]
    env = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"} | variables
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=check)


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return str(listening.getsockname()[1])


def loaders(run_dir):
    """Workers of the loaders that each training process iterated, by the line that builds them."""
    seen = []
    for process in record.read(run_dir).processes:
        table = process.tables.get("loader") if process.header["role"] == ROLE_MAIN else None
        for site, settings in zip(table["site_text"], table["settings_text"], strict=True) if table else ():
            line = int(process.texts[int(site)].rpartition(":")[2])
            seen.append((line, json.loads(process.texts[int(settings)])["num_workers"]))
    return sorted(seen)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The script as it is written, profiled; its one thread is all it asks for."""
    run_dir = tmp_path_factory.mktemp("one") / "run"
    tool("profile", "--no-pdf", "-o", run_dir, SCRIPT, OMP_NUM_THREADS="1")
    return run_dir


def test_two_workers_gain_what_they_promise_and_the_report_says_so(run):
    done = tool("treat", run, "--set", "num_workers=2", "--runs", "4", "--no-pdf", OMP_NUM_THREADS="1")
    assert done.stdout == "", "the script's words are in its trials"
    (outcome,) = pipeline.diagnose(run).diagnosis.treated
    assert (outcome.settings, outcome.runs >= 2) == ({"num_workers": 2}, True)
    assert outcome.speedup.low > 1.3
    assert outcome.promised.low / 1.5 < outcome.speedup.best < outcome.promised.high * 1.5
    assert outcome.starved_after < outcome.starved_before

    lines = done.stderr.splitlines()
    told = lines[next(at for at, line in enumerate(lines) if "tried " in line) :]
    assert len(told) <= 8
    assert all(line.startswith("loaderdoctor: ") for line in lines)
    assert json.loads((run / "report.json").read_text())["treated"][0]["speedup"]["best"] == outcome.speedup.best

    treated, written = run / "treated" / "2-treated", run / "treated" / "1-as-written"
    other = next(line for line, _ in loaders(written) if line != LINE)
    assert loaders(written) == sorted([(LINE, 0), (other, 0)])
    assert loaders(treated) == sorted([(LINE, 2), (other, 0)])
    assert "trained with 0 workers beside it" in (treated / "output.txt").read_text()


def test_the_prescription_is_what_is_tried_unless_something_else_is_asked_for(run):
    done = tool("treat", run, "--runs", "2", "--no-pdf", OMP_NUM_THREADS="1")
    report = json.loads((run / "report.json").read_text())
    first = report["findings"][0]
    assert re.search(r"tried +num_workers=", done.stderr)
    assert (first["cause"], first["gain"]["basis"]) == ("no-workers", "measured")
    assert first["promised"]["basis"] == "simulated"
    assert first["measured"]["runs"] == 2
    assert first["gain"]["speedup"]["best"] > 1.3
    assert "Promised" in (run / "report.html").read_text()


def test_the_ceiling_is_what_no_loader_can_beat_and_is_marked(run):
    done = tool("treat", run, "--ceiling", "--runs", "4", "--no-pdf", OMP_NUM_THREADS="1")
    outcome = next(one for one in pipeline.diagnose(run).diagnosis.treated if one.is_ceiling)
    assert outcome.speedup.low > 1.3, "the training's waits go, those of the loader beside it stay"
    assert outcome.starved_after < outcome.starved_before
    assert outcome.promised is None, "the share is of both loaders"
    assert "what was trained does not" in done.stderr
    treated = pipeline.diagnose(run / "treated" / "2-treated").signals.notes
    assert "one-batch-kept" in [slug for slug, _ in treated]


def test_a_variable_of_the_environment_is_tried(run, tmp_path):
    from loaderdoctor.treat.again import again
    from loaderdoctor.treat.remedy import Remedy
    from loaderdoctor.treat.trials import Limits, Plan, try_out

    done = pipeline.diagnose(run)
    remedy = Remedy(done.signals.main, variables={"OMP_NUM_THREADS": "1"})
    plan = Plan(done.signals, remedy, again(done.run.meta, done.signals), tmp_path / "t")
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("OMP_NUM_THREADS", raising=False)
        trials = try_out(plan, Limits(least_runs=2, most_runs=2))
    assert trials.speedup.low > 1.2


def test_settings_reach_every_rank(tmp_path):
    port = {"SLEEPERS_PORT": free_port(), "OMP_NUM_THREADS": "1"}
    tool("profile", "--no-pdf", "-o", tmp_path / "run", SCRIPT, "ranks", **port)
    tool("treat", tmp_path / "run", "--set", "num_workers=1", "--runs", "2", "--no-pdf", **port)
    (outcome,) = pipeline.diagnose(tmp_path / "run").diagnosis.treated
    assert (
        outcome.runs == 2
    )  # what two ranks and their workers gain on a machine of two cores is no matter of this test
    trained = [workers for line, workers in loaders(tmp_path / "run" / "treated" / "2-treated") if line == LINE]
    assert trained == [1, 1]


def test_a_script_that_fails_with_the_treatment_is_an_error_and_its_words_are_shown(run):
    script = "raise SystemExit('no luck today')"
    done = tool("treat", run, "--set", "num_workers=2", "--", sys.executable, "-c", script, check=False)
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1].endswith("[trial-failed]")
    assert "no luck today" in done.stderr
