"""A command under the tool behaves as it does without: words, streams, status, signals, surroundings."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path

import pytest

from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.launch import directory

BOOTSTRAP = Path(__file__).parents[2] / "loaderdoctor" / "launch" / "bootstrap"
OLD_PYTHONS = ("python2.7", "python3.6", "python3.7", "python3.8", "python3.9")
WAIT_S = 60


def tool(*words):
    return [sys.executable, "-m", "loaderdoctor", "profile", "--no-pdf", *words]


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Writes a script into an empty working directory."""
    monkeypatch.chdir(tmp_path)

    def write(text, name="train.py"):
        Path(name).write_text(text)
        return name

    return write


def both(words, **kwargs):
    """The command alone, and under the tool."""
    alone = subprocess.run([sys.executable, *words], capture_output=True, check=False, timeout=WAIT_S, **kwargs)
    under = subprocess.run(tool("-o", "run", *words), capture_output=True, check=False, timeout=WAIT_S, **kwargs)
    return alone, under


def meta():
    return json.loads(Path("run/run.json").read_text())


ARGUMENTS = [
    [],
    ["--lr", "0.1"],
    ["--", "--steps", "3"],
    ["-m", "x", "--no-pdf", "-o", "elsewhere"],
    ["a b", "", "ü", "--help", "*", "$HOME", "\n"],
    ["--", "--", "-"],
]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=str)
def test_arguments_arrive_byte_for_byte(arguments, script):
    name = script("import sys; print(sys.argv, sys.orig_argv[1:])")
    alone, under = both([name, *arguments])
    assert under.stdout == alone.stdout


def test_arguments_that_are_no_text_arrive_too(script):
    alone, under = both([script("import os, sys; print(os.fsencode(sys.argv[1]))"), b"\xff\xfe"])
    assert under.stdout == alone.stdout
    assert under.returncode == 0


def test_a_module_and_its_arguments(script):
    script("import sys; print(__name__, sys.argv[1:], __spec__.name)", "job.py")
    alone, under = both(["-m", "job", "--", "x", "-m"])
    assert under.stdout == alone.stdout
    assert b"job" in under.stdout


SHOWS_VARIABLES = "import os; print({name: v for name, v in os.environ.items() if name.startswith('LOADERDOCTOR_')})"


def test_a_run_inside_a_run_is_one_of_its_own(script, monkeypatch):
    monkeypatch.setenv("LOADERDOCTOR_RUN", "/outer")
    monkeypatch.setenv("LOADERDOCTOR_STEPS", "5")
    under = subprocess.run(
        tool("-o", "run", "--seconds", "9", script(SHOWS_VARIABLES)), capture_output=True, text=True, check=True
    )
    expected = {"LOADERDOCTOR_RUN": str(Path("run").resolve()), "LOADERDOCTOR_SECONDS": "9.0"}
    assert under.stdout == f"{expected}\n"


def test_any_command_after_two_dashes(script):
    script("")
    under = subprocess.run(
        tool("-o", "run", "--", "sh", "-c", "echo $0 $1; exit 4", "--", "x"), capture_output=True, check=False
    )
    assert (under.stdout, under.returncode) == (b"-- x\n", 4)


STATUSES = {
    "": 0,
    "import sys; sys.exit(7)": 7,
    "import sys; sys.exit('no data')": 1,
    "import os; os._exit(9)": 9,
    "raise ValueError('at import')": 1,
    "not python at all": 1,
    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)": -signal.SIGKILL,
    "import os, signal; os.kill(os.getpid(), signal.SIGTERM)": -signal.SIGTERM,
    "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)": -signal.SIGSEGV,
    "raise KeyboardInterrupt": -signal.SIGINT,
}


@pytest.mark.parametrize("text", STATUSES)
def test_the_exit_status_is_the_scripts_own(text, script):
    alone, under = both([script(text)])
    assert alone.returncode == STATUSES[text]
    assert under.returncode == alone.returncode


ENDS = {
    "": "script",
    "import sys; sys.exit(7)": "crash",
    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)": "signal",
    "raise KeyboardInterrupt": "interrupt",
}


@pytest.mark.parametrize("text", ENDS)
def test_how_it_ended_is_noted(text, script):
    both([script(text)])
    assert meta()["ended_by"] == ENDS[text]
    assert meta()["ended_ns"] > meta()["started_ns"]


def test_a_traceback_is_the_scripts_own(script):
    alone, under = both([script("def f():\n    raise ValueError('sample 9')\nf()")])
    theirs = under.stderr.decode()
    assert alone.stderr.decode() in theirs
    assert theirs.count("Traceback") == 1


def test_input_belongs_to_the_script(script):
    alone, under = both([script("import sys; print(sys.stdin.read()[::-1])")], input=b"abc")
    assert under.stdout == alone.stdout == b"cba\n"


SURROUNDINGS = """
import os, sys, signal, threading, subprocess
os.chdir("..")
sys.argv = ["other"]
print(sys.argv, threading.active_count(), sys.flags.isolated, sys.path[0] == os.path.dirname(os.path.abspath(sys.argv[0])))
print([signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGPROF, signal.SIGCHLD)])
print([p for p in sys.path if "loaderdoctor" in p and "bootstrap" in p], "sitecustomize" in dir())
pid = os.fork()
if pid == 0:
    print("child", flush=True)
    os._exit(3)
print(os.waitpid(pid, 0)[1], subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True).stdout)
"""


def test_surroundings_are_as_without(script):
    alone, under = both([script(SURROUNDINGS)])
    assert under.stdout == alone.stdout
    assert under.stderr.decode().startswith(alone.stderr.decode())


def test_a_signal_to_the_tool_reaches_the_script(script):
    name = script(
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('saved'), sys.exit(5)))\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)"
    )
    process = subprocess.Popen(tool("-o", "run", name), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=WAIT_S)
    assert (output, process.returncode) == (b"saved\n", 5)


def test_ctrl_c_reaches_the_script_once_and_the_run_is_kept(script):
    name = script(
        "import time\n"
        "try:\n    print('ready', flush=True)\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    print('stopped')\n    time.sleep(0.2)\n    raise"
    )
    process = subprocess.Popen(
        tool("-o", "run", name), stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout.readline() == b"ready\n"
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=WAIT_S)
    assert output == b"stopped\n"
    assert process.returncode == -signal.SIGINT
    assert errors.count(b"Traceback") == 1
    assert meta()["ended_by"] == "interrupt"


def test_a_killed_tool_leaves_a_run_that_says_so(script):
    name = script("import time; print('ready', flush=True); time.sleep(2)")
    process = subprocess.Popen(tool("-o", "run", name), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout.readline() == b"ready\n"
    process.kill()
    process.communicate(timeout=WAIT_S)
    assert meta()["ended_ns"] is None


def test_where_the_working_directory_cannot_be_written_the_run_goes_elsewhere(script, monkeypatch, tmp_path):
    script("print('here')")
    Path("loaderdoctor-runs").write_text("a file where the folder should be")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    under = subprocess.run(tool("train.py"), capture_output=True, check=False)
    assert (under.stdout, under.returncode) == (b"here\n", 0)
    (run,) = temporary.glob("loaderdoctor-train-*")
    assert "run-kept-elsewhere" in [note["slug"] for note in json.loads((run / "run.json").read_text())["notes"]]


def test_nowhere_to_keep_a_run_is_one_sentence(script, monkeypatch):
    script("print('never started')")
    Path("loaderdoctor-runs").write_text("a file where the folder should be")
    monkeypatch.setattr(tempfile, "tempdir", "/proc/nowhere")
    with pytest.raises(LoaderDoctorError, match="temporary") as caught:
        directory.make(None, "train", datetime(2026, 1, 2, tzinfo=timezone.utc))
    assert caught.value.slug == "output-unusable"


def test_runs_of_the_same_second_lie_side_by_side(script):
    script("")
    second = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
    made = [directory.make(None, "train", second)[0].name for _ in range(3)]
    assert made == ["train-20260102T030405Z", "train-20260102T030405Z-2", "train-20260102T030405Z-3"]


MOVES_THE_RUN = """
import glob, os, time
while not glob.glob("run/samples/*.jsonl"):
    time.sleep(0.01)
os.rename("run", "moved")
print("done")
raise SystemExit(6)
"""


def test_a_run_directory_that_disappears_costs_the_report_and_nothing_else(script):
    under = subprocess.run(tool("-o", "run", script(MOVES_THE_RUN)), capture_output=True, check=False, timeout=WAIT_S)
    assert (under.stdout, under.returncode) == (b"done\n", 6)
    assert b"Traceback" not in under.stderr
    assert b"[run-incomplete]" in under.stderr


MISTAKES = {
    ("-m",): "command-missing",
    (): "command-missing",
    ("-o", "/proc/nowhere", "train.py"): "output-unusable",
    ("gone.py",): "script-missing",
    ("folder",): "script-is-a-folder",
    ("--", "no-such-command"): "command-not-started",
    ("--",): "command-missing",
}


@pytest.mark.parametrize("words", MISTAKES, ids=str)
def test_a_mistake_is_one_sentence(words, script):
    script("")
    Path("folder").mkdir()
    under = subprocess.run(tool(*words), capture_output=True, check=False)
    lines = under.stderr.decode().splitlines()
    assert under.returncode == 2
    assert len(lines) == 1
    assert lines[0].startswith("loaderdoctor: ")
    assert lines[0].endswith(f"[{MISTAKES[words]}]")
    assert sorted(path.name for path in Path().rglob("*")) == ["folder", "train.py"]


def test_a_run_is_not_written_over(script):
    name = script("")
    for status in (0, 2):
        assert subprocess.run(tool("-o", "run", name), capture_output=True, check=False).returncode == status


def test_the_hidden_sitecustomize_runs_too(script, monkeypatch, tmp_path):
    name = script("import sys; print(sys.from_theirs, sys.modules['sitecustomize'].__file__)")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "sitecustomize.py").write_text("import sys; sys.from_theirs = 1")
    monkeypatch.setenv("PYTHONPATH", str(theirs))
    alone, under = both([name])
    assert under.stdout == alone.stdout


@pytest.mark.parametrize("python", OLD_PYTHONS)
def test_an_old_python_below_the_run_is_left_alone(python, tmp_path):
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{python.removeprefix('python')}*/bin/{python}"))
    if not pyenv:
        pytest.skip(f"{python} is not installed here")
    env = os.environ | {"PYTHONPATH": str(BOOTSTRAP), "LOADERDOCTOR_RUN": str(tmp_path)}
    done = subprocess.run([pyenv[0], "-c", "print(1)"], env=env, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"1\n", b"")


def test_a_process_without_a_loader_leaves_no_record(script):
    both([script("print(1)")])
    assert list(Path("run/records").iterdir()) == []
    assert "nothing-recorded" in [note["slug"] for note in meta()["notes"]]


def test_a_python_that_costs_little_to_start(script):
    """The bootstrap is paid by every Python below the run: few modules, none of them heavy."""
    name = script("import sys; print(sorted(set(sys.modules)))")
    alone, under = both([name])
    more = set(eval(under.stdout)) - set(eval(alone.stdout))  # noqa: S307 - a list that we printed ourselves
    foreign = {m.partition(".")[0] for m in more} - {"_loaderdoctor_probe"} - set(sys.stdlib_module_names)
    assert foreign <= {"sitecustomize"}
    assert not {"socket", "subprocess", "multiprocessing", "logging", "json", "ssl"} & more
