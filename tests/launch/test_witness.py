"""Signals to the tool alone, to its group, and to each process in turn: the script gets each of them once."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from contextlib import suppress

import psutil
import pytest

from loaderdoctor.launch import witness

WAIT_S = 60
# Tells each signal that it gets, in order; the last of all numbers ends it.
LISTENS = """
import signal
numbers = {signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGRTMAX}
signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
print("ready", flush=True)
while (got := signal.sigwait(numbers)) != signal.SIGRTMAX:
    print(signal.Signals(got).name, flush=True)
"""
# Is what the tool is while a script runs; somebody in another session sends a signal for each line of input.
STARTS = f"""
import os, psutil, signal, subprocess, sys
from loaderdoctor.launch import child

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests under nohup ignores it, and so would the tool
with child.started([sys.executable, "-c", {LISTENS!r}], os.environ) as running:
    me, script = os.getpid(), running.process.pid
    (witness,) = {{process.pid for process in psutil.Process().children()}} - {{script}}
    for command in sys.argv[1:]:
        sys.stdin.readline()
        words = ["sh", "-c", command.format(me=me, script=script, witness=witness)]
        subprocess.run(words, start_new_session=True, check=True)
    running.process.send_signal(signal.SIGRTMAX)
    running.wait(lambda: None, None)
"""
NAMES = ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
TO_THE_TOOL, TO_THE_GROUP = "kill -{0} {{me}}", "kill -{0} -{{me}}"
WAYS = {
    "to the tool alone": TO_THE_TOOL,
    "to the group": TO_THE_GROUP,
    "to each process": "kill -{0} {{me}}; kill -{0} {{witness}}; kill -{0} {{script}}",
    "to the tool and at once to the group, as timeout does": f"{TO_THE_TOOL}; {TO_THE_GROUP}",
}


def heard(*commands):
    """What the script of STARTS got, each command given once it has told of the one before."""
    words = [sys.executable, "-c", STARTS, *commands]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as tool:
        told = [tool.stdout.readline().strip()]
        for _ in commands[1:]:
            tool.stdin.write("\n")
            tool.stdin.flush()
            told.append(tool.stdout.readline().strip())
        told += tool.communicate("\n", timeout=WAIT_S)[0].split()
        assert (told[0], tool.returncode) == ("ready", 0)
    return told[1:]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NAMES)
def test_a_signal_reaches_the_script_once_whomever_it_was_sent_to(name, way):
    assert heard(WAYS[way].format(name.removeprefix("SIG"))) == [name]


@pytest.mark.parametrize("command", [TO_THE_TOOL, TO_THE_GROUP])
def test_a_second_ctrl_c_is_one_more(command):
    command = command.format("INT")
    assert heard(command, command) == ["SIGINT", "SIGINT"]


def test_what_a_handler_in_between_has_read_is_not_waited_for(monkeypatch):
    beside = witness.Witness([signal.SIGUSR1])
    monkeypatch.setattr(select, "select", lambda ready, *_: (ready, [], []))  # said, and then read by the other
    assert beside.heard(signal.SIGUSR1) is False
    beside.end()


WITHOUT_WITNESS = {"INT": [], "TERM": ["SIGTERM"]}


@pytest.mark.parametrize("name", WITHOUT_WITNESS)
def test_where_nobody_can_tell_an_interrupt_is_the_terminals_and_all_else_was_sent_to_the_tool(name):
    assert heard(f"kill -KILL {{witness}}; kill -{name} {{me}}") == WITHOUT_WITNESS[name]


PROFILE = [sys.executable, "-m", "loaderdoctor", "profile", "--no-pdf", "-o", "run", "script.py"]
INTERRUPTED = """
import time
try:
    print("ready", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
    time.sleep(0.5)  # longer than the tool takes to find out whom the interrupt was sent to
    raise SystemExit(130)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text(INTERRUPTED)


@pytest.mark.usefixtures("folder")
def test_an_interrupt_of_the_tool_alone_is_the_scripts():
    with subprocess.Popen(
        PROFILE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as tool:
        assert tool.stdout.readline() == "ready\n"
        tool.send_signal(signal.SIGINT)
        output, errors = tool.communicate(timeout=WAIT_S)
    assert (output, tool.returncode) == ("interrupted\n", 130)
    assert "Traceback" not in errors


@pytest.mark.usefixtures("folder")
def test_the_keys_of_a_terminal_interrupt_once():
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(PROFILE[0], PROFILE)  # noqa: S606 - a terminal is wanted, and no shell
    attributes = termios.tcgetattr(terminal)
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, attributes)
    shown = b""
    while b"ready" not in shown:
        shown += os.read(terminal, 1024)
    os.write(terminal, b"\x03")
    _, status = os.waitpid(pid, 0)
    shown = os.read(terminal, 1 << 16)
    assert (shown.split(b"\r\n")[0], os.waitstatus_to_exitcode(status)) == (b"interrupted", 130)
    assert b"Traceback" not in shown


def members(group):
    """The living processes of a group."""
    found = []
    for process in psutil.process_iter():
        with suppress(ProcessLookupError, psutil.NoSuchProcess):
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


@pytest.mark.usefixtures("folder")
def test_a_tool_that_is_killed_leaves_its_script_and_nothing_of_its_own():
    with subprocess.Popen(
        PROFILE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    ) as tool:
        assert tool.stdout.readline() == "ready\n"
        assert len(members(tool.pid)) == 3
        tool.kill()
        tool.wait()
        for _ in range(600):
            if len(left := members(tool.pid)) == 1:
                break
            time.sleep(0.05)
        assert [process.cmdline()[1:] for process in left] == [["script.py"]]
        left[0].kill()
