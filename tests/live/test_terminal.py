"""A line of ours on a terminal that somebody else writes to: it stands alone, and nothing of the other's is lost."""

import os
import pty
import subprocess
import sys
from contextlib import suppress
from itertools import pairwise

import pytest

from loaderdoctor.live.terminal import Terminal

# Writes what a script would, then a line of ours, and goes on as the script.
WRITES = """
import os, sys
from loaderdoctor.live.terminal import Terminal
before, after = sys.argv[1:]
terminal = Terminal()
os.write(1, before.encode())
print(terminal.width, file=open("width", "w"))
terminal.say("7 steps so far")
os.write(1, after.encode())
"""
OURS = "loaderdoctor: 7 steps so far"
COLUMNS = 40


def screen(output):
    """The lines that a terminal of COLUMNS shows: it goes to the next one only with the character that has no room."""
    lines, column = [""], 0
    for mark in output:
        if mark == "\r":
            column = 0
        elif mark == "\n":
            lines.append("")
        else:
            if column == COLUMNS:
                lines.append("")
                column = 0
            lines[-1] = lines[-1][:column].ljust(column) + mark + lines[-1][column + 1 :]
            column += 1
    return [line.rstrip() for line in lines]


def on_a_terminal(before, after):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", WRITES, before, after])  # noqa: S606 - a terminal is wanted, and no shell
    size = COLUMNS.to_bytes(2, sys.byteorder)
    import fcntl
    import termios

    fcntl.ioctl(terminal, termios.TIOCSWINSZ, (24).to_bytes(2, sys.byteorder) + size + bytes(4))
    shown = b""
    with suppress(OSError):  # the end of a terminal whose last process has ended
        while piece := os.read(terminal, 1024):
            shown += piece
    assert os.waitpid(pid, 0)[1] == 0
    os.close(terminal)
    return screen(shown.decode())


SCREENS = {  # what the script has written, what it writes then: what is seen
    "a whole line before": ("epoch 1\n", "epoch 2\n", ["epoch 1", OURS, "epoch 2", ""]),
    "nothing before": ("", "epoch 1\n", [OURS, "epoch 1", ""]),
    "a prompt": ("Name? ", "Ada\n", ["Name?", OURS, "Ada", ""]),
    "one character": (".", ".\n", [".", OURS, ".", ""]),
    "a line up to the edge": ("x" * COLUMNS, "y\n", ["x" * COLUMNS, OURS, "y", ""]),
    "a progress bar": ("\r10 %|#  |", "\r20 %|## |\n", ["10 %|#  |", OURS, "20 %|## |", ""]),
}


@pytest.mark.parametrize("case", SCREENS)
def test_the_line_stands_alone_and_nothing_is_lost(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before, after, seen = SCREENS[case]
    assert on_a_terminal(before, after) == seen


def test_the_screen_of_these_tests_wraps_as_terminals_do():
    assert screen("x" * COLUMNS + "\ry") == ["y" + "x" * (COLUMNS - 1)]
    assert screen("x" * (COLUMNS + 1)) == ["x" * COLUMNS, "x"]


def test_it_is_quiet_where_nobody_looks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with (tmp_path / "log").open("wb") as log:
        assert Terminal(log.fileno()).width == 0
    assert Terminal(-1).width == 0
    subprocess.run(
        [sys.executable, "-c", "from loaderdoctor.live.terminal import Terminal as T; assert T().width == 0"],
        stderr=subprocess.PIPE, check=True,
    )  # fmt: skip


def test_it_is_quiet_in_the_background():
    ours, theirs = pty.openpty()  # a terminal, but not that of this process
    assert Terminal(theirs).width == 0
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize(("columns", "width"), [(10, 0), (40, 25), (80, 65), (1000, 185), (0, 65)])
def test_how_much_fits(columns, width, monkeypatch):
    monkeypatch.setattr(os, "isatty", lambda _: True)
    monkeypatch.setattr(os, "tcgetpgrp", lambda _: os.getpgrp())
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((columns, 24)))
    assert Terminal(2).width == width


def test_wider_terminals_never_say_less(monkeypatch):
    monkeypatch.setattr(os, "isatty", lambda _: True)
    monkeypatch.setattr(os, "tcgetpgrp", lambda _: os.getpgrp())
    widths = []
    for columns in range(1, 300):
        monkeypatch.setattr(os, "get_terminal_size", lambda _, columns=columns: os.terminal_size((columns, 24)))
        widths.append(Terminal(2).width)
    assert all(narrow <= wide for narrow, wide in pairwise(widths))
