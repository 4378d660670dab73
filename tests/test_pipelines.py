"""Whole training scripts under `loaderdoctor profile`: what the report says, against the script's own stopwatch."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from under_the_tool import (
    PIPELINES,
    TIME_LIMIT_S,
    profiled,
    read_report,
    read_stopwatch,
    run,
    starved_share,
)

import loaderdoctor

pytestmark = pytest.mark.slow

SHARE_POINTS = 0.03
ATTEMPTS = 3  # of a script that may end otherwise by chance, without the tool
BAD = PIPELINES / "bad"
TORCHRUN = [str(Path(sys.executable).with_name("torchrun")), "--standalone", "--nproc-per-node", "2"]


@pytest.mark.parametrize(
    ("script", "status", "causes", "roles"),
    [
        ("images", "starving", {"no-workers"}, ["train"]),
        ("text", "healthy", {None}, ["train"]),
        ("two_loaders", "starving", {"no-workers", "eval-stall"}, ["train", "eval"]),  # neither loader has workers
    ],
)
def test_a_report_agrees_with_the_scripts_own_stopwatch(tmp_path, script, status, causes, roles):
    path = PIPELINES / f"{script}.py"
    crowded = os.getloadavg()[0] > 0.75 * len(os.sched_getaffinity(0))  # no core for a worker, so none would help
    plain = run([sys.executable, str(path)], tmp_path)
    done, report = profiled([str(path)], tmp_path, STOPWATCH=str(tmp_path / "times"))
    loops = read_stopwatch(tmp_path / "times")

    assert (done.status, done.stdout) == (plain.status, plain.stdout)
    assert report["schema"] == "loaderdoctor.report/1"
    assert report["verdict"]["status"] == status
    assert report["verdict"]["cause"] in (causes | {None} if crowded else causes)
    assert report["verdict"]["starved_share"]["best"] == pytest.approx(starved_share(loops), abs=SHARE_POINTS)
    assert [loader["role"] for loader in report["loaders"]] == roles
    assert sum(loader["batches"] for loader in report["loaders"]) == sum(map(len, loops))


def test_the_steady_step_agrees_with_the_scripts_own_stopwatch(tmp_path):
    _, report = profiled([str(PIPELINES / "images.py")], tmp_path, STOPWATCH=str(tmp_path / "times"))
    steps = [step for loop in read_stopwatch(tmp_path / "times") for step in loop]
    steady = [step for step in steps[len(steps) // 10 :] if not step.first]
    waited = sum(step.got - step.asked for step in steady) / sum(step.done - step.asked for step in steady)

    assert report["step"]["shares"]["data_wait"] == pytest.approx(waited, abs=SHARE_POINTS)
    assert sum(report["step"]["shares"].values()) == pytest.approx(1)


def test_a_run_by_torchrun_records_both_ranks(tmp_path):
    command = [*TORCHRUN, str(PIPELINES / "ddp.py")]
    # As a rank's interpreter ends, a thread of gloo may abort it; torchrun then says 1, with the tool and without it.
    plain = next(ran for ran in (run(command, tmp_path) for _ in range(ATTEMPTS)) if ran.status == 0)
    done, report = profiled(["--", *command], tmp_path, STOPWATCH=str(tmp_path / "times"))
    share = starved_share(*(read_stopwatch(tmp_path / f"times{rank}") for rank in (0, 1)))
    headers = [process.header for process in loaderdoctor.load(tmp_path / "run").processes]

    assert done.stdout == plain.stdout
    assert done.status == 0 or "SIGABRT" in done.stderr
    assert sorted(header["rank"] for header in headers if header["rank"] >= 0) == [0, 1]
    assert {header["world_size"] for header in headers if header["rank"] >= 0} == {2}
    assert report["verdict"]["status"] == "starving"
    assert report["verdict"]["starved_share"]["best"] == pytest.approx(share, abs=SHARE_POINTS)


@pytest.mark.parametrize(
    ("script", "ended_by", "batches"),
    [
        ("raises_at_import", "crash", None),
        ("no_torch", "script", None),
        ("no_loader", "script", None),
        ("os_exit", "crash", 30),
        ("killed", "signal", 30),
        ("forks", "crash", None),
        ("changes_directory", "script", 30),
        ("patches_loader", "script", 30),
    ],
)
def test_a_script_that_goes_its_own_way_keeps_its_way_and_its_report(tmp_path, script, ended_by, batches):
    path = BAD / f"{script}.py"
    plain = run([sys.executable, str(path)], tmp_path)
    done, report = profiled([str(path)], tmp_path)

    assert (done.status, done.stdout) == (plain.status, plain.stdout)
    assert report["run"]["ended_by"] == ended_by
    assert_nothing_of_ours_in(done.stderr)
    if batches is not None:
        assert [loader["batches"] for loader in report["loaders"]] == [batches]


def test_arguments_reach_the_script_byte_for_byte(tmp_path):
    arguments = ["--steps", "5", "--", "-o", "", "a b", "--", "ü"]
    done, _ = profiled([str(BAD / "sets_argv.py"), *arguments], tmp_path)
    assert json.loads(done.stdout.splitlines()[0]) == arguments


def test_ctrl_c_ends_the_script_and_leaves_a_report(tmp_path):
    command = [sys.executable, "-m", "loaderdoctor", "profile", "--no-pdf", "-o", str(tmp_path / "run")]
    with subprocess.Popen(
        [*command, str(BAD / "interrupted.py")],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "training\n"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to everybody in the foreground
        _, stderr = process.communicate(timeout=TIME_LIMIT_S)

    assert process.returncode == -signal.SIGINT
    assert read_report(tmp_path / "run", stderr)["run"]["ended_by"] == "interrupt"
    assert "KeyboardInterrupt" in stderr
    assert_nothing_of_ours_in(stderr)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a directory that even root cannot write to")
def test_a_directory_that_cannot_be_written_to_does_not_stop_the_run():
    command = [sys.executable, "-m", "loaderdoctor", "profile", "--no-pdf", str(BAD / "no_loader.py")]
    done = run(command, Path("/proc"))
    assert (done.status, done.stdout) == (0, "6\n")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "content"),
    [("missing.py", None), ("page.py", "<!doctype html><p>This is no Python, though its name says so.</p>")],
)
def test_what_is_no_script_gets_a_sentence_and_a_status_that_is_not_zero(tmp_path, name, content):
    if content is not None:
        (tmp_path / name).write_text(content)
    done = run([sys.executable, "-m", "loaderdoctor", "profile", "--no-pdf", name], tmp_path)
    assert done.status != 0
    assert name in done.stderr
    assert_nothing_of_ours_in(done.stderr)


def assert_nothing_of_ours_in(stderr: str) -> None:
    """A traceback in the script's output may be the script's own, but never pass through our files."""
    package = str(Path(loaderdoctor.__file__).parent)
    lines = [line for line in stderr.splitlines() if line.lstrip().startswith("File ")]
    assert [line for line in lines if package in line] == []
