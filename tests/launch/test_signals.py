"""Signals, seconds and deaths: what the parent does while its child runs, and how it ends itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from loaderdoctor.launch import child

WAIT_S = 60
LONG_S = 50  # what a script sleeps that is to be ended by something else
IGNORES_INTERRUPTS = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
IGNORES_BOTH = IGNORES_INTERRUPTS + "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
CLEANS_UP = "import sys, time\ntry:\n    {rest}\nexcept KeyboardInterrupt:\n    sys.exit(4)\n"
READY_AND_LONG = f"import pathlib, time; pathlib.Path('ready').touch(); time.sleep({LONG_S})"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def impatient(monkeypatch):
    """As in a run, in shorter units."""
    for name, seconds in (("GRACE_S", 0.0), ("PATIENCE_S", 1.0), ("POLL_S", 0.05)):
        monkeypatch.setattr(child, name, seconds)


def python(text):
    return [sys.executable, "-c", text]


def first_batch_once_ready():
    """The first batch is there when the script has made a file."""
    return time.perf_counter_ns() if Path("ready").exists() else None


OVERDUE = {
    "interrupted": (READY_AND_LONG, -signal.SIGINT),
    "cleans up": (CLEANS_UP.format(rest=READY_AND_LONG), 4),
    "terminated": (IGNORES_INTERRUPTS + READY_AND_LONG, -signal.SIGTERM),
    "killed": (IGNORES_BOTH + READY_AND_LONG, -signal.SIGKILL),
}


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("case", OVERDUE)
def test_a_script_that_comes_to_no_next_batch_is_ended_from_outside(case):
    text, status = OVERDUE[case]
    with child.started(python(text), os.environ) as running:
        assert running.wait(first_batch_once_ready, 0.0) == (status, True)


ON_TIME = {
    "before the first batch": ("raise SystemExit(3)", 1000.0),
    "before the seconds are over": ("import pathlib; pathlib.Path('ready').touch(); raise SystemExit(3)", 1000.0),
}


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("case", ON_TIME)
def test_a_script_that_ends_by_itself_is_not_touched(case):
    text, seconds = ON_TIME[case]
    with child.started(python(text), os.environ) as running:
        assert running.wait(first_batch_once_ready, seconds) == (3, False)


def test_a_command_gets_the_signals_that_were_sent_before_it_was_there(monkeypatch):
    popen = subprocess.Popen

    def slow(*args, **kwargs):
        os.kill(os.getpid(), signal.SIGTERM)
        return popen(*args, **kwargs)

    monkeypatch.setattr(subprocess, "Popen", slow)
    with child.started(python(f"import time; time.sleep({LONG_S})"), os.environ) as running:
        assert running.wait(lambda: None, None) == (-signal.SIGTERM, False)


@contextmanager
def disposition(number, handler):
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


SHOWS_HANDLERS = (
    "import signal; print([signal.getsignal(getattr(signal, n)) for n in "
    "('SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR1')])"
)


@pytest.mark.parametrize("ignored", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
def test_what_is_ignored_stays_ignored_as_without(ignored):
    with disposition(ignored, signal.SIG_IGN):
        alone = subprocess.check_output(python(SHOWS_HANDLERS))
        under = subprocess.run(
            [sys.executable, "-m", "loaderdoctor", "profile", "--no-pdf", "--", *python(SHOWS_HANDLERS)],
            capture_output=True,
            check=True,
            timeout=WAIT_S,
        ).stdout
    assert under == alone
    assert b"SIG_IGN" in alone


def test_handlers_are_put_back():
    numbers = child.FORWARDED | child.INTERRUPTS
    before = [signal.getsignal(number) for number in numbers]
    with child.started(python(""), os.environ) as running:
        running.wait(lambda: None, None)
    assert [signal.getsignal(number) for number in numbers] == before


DEATHS = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGUSR1]


@pytest.mark.parametrize("number", DEATHS, ids=lambda number: number.name)
def test_the_tool_dies_as_its_script_died_and_leaves_no_core_of_its_own(number):
    text = (
        "import resource, os\n"
        "resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)\n"
        f"from loaderdoctor.launch import end_as; end_as({-number})"
    )
    _, status = os.waitpid(os.posix_spawn(sys.executable, python(text), os.environ), 0)
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == number
    assert not os.WCOREDUMP(status)


@pytest.mark.parametrize(("returncode", "status"), [(0, 0), (7, 7), (255, 255), (-15, 143), (-9, 137), (-2, 130)])
def test_a_status_as_the_shell_shows_it(returncode, status):
    assert child.shell_status(returncode) == status
