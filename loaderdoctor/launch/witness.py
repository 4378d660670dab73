"""Tells a signal that was sent to this process alone from one that reached the script as well.

A terminal's Ctrl-C, `kill -PGID` and a scheduler that ends a job signal every process of a group; who knows our process id
alone means the script that we stand for.  The kernel tells neither apart, so a process that does nothing else hears beside
us: what reaches it too has reached the script.
"""

from __future__ import annotations

import os
import select
import signal
import struct
import time
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Collection

# Who signals the processes of a job one by one (systemd, pkill, a batch system) is through with them in less.
WINDOW_S = 0.1
# Signals of one number that come this close are one, as in the kernel while one of them waits: `timeout` sends one to us
# and then one to the group.  It is also how late this process may get to handle what it was sent.
SAME_S = 1.0
ANSWER_S = 5.0  # a machine on which a sleeping process gets no turn for longer is one on which nobody can tell
ANSWER = 0  # no signal has this number
STANDARD_STREAMS = range(3)
_HEARD = struct.Struct("=Bd")  # a signal's number, and when the witness had it
_STOPS = ("SIGTSTP", "SIGTTIN", "SIGTTOU")  # who is stopped hears nothing


class Witness:
    """A process of our group that hears the signals `numbers`, and ends when this one does, however that ends."""

    def __init__(self, numbers: Collection[int]) -> None:
        """Start it.  OSError where there can be no further process."""
        self._last_s: dict[int, float] = {}
        self._asked = self._answered = 0
        self._is_gone = False
        self._heard, heard = os.pipe()
        asked, self._ask = os.pipe()
        os.set_blocking(self._heard, False)
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
        try:
            with (
                warnings.catch_warnings()
            ):  # 3.12 warns of threads, of which those of BLAS, all asleep, are the only ones
                warnings.simplefilter("ignore", DeprecationWarning)
                self._pid = os.fork()
            if self._pid == 0:
                _hear(numbers, asked, heard, {*STANDARD_STREAMS, self._ask, self._heard} - {asked, heard})
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            os.close(asked)
            os.close(heard)

    def heard(self, number: int) -> bool | None:
        """Whether the signal that this process has just got has reached others too; None where that is not known."""
        since_s = time.monotonic() - SAME_S
        until_s = time.monotonic() + WINDOW_S
        while not self._has(number, since_s) and not self._is_gone and (left_s := until_s - time.monotonic()) > 0:
            self._listen(left_s)
        if not self._has(number, since_s):
            self._wait_for_an_answer()
        return True if self._has(number, since_s) else None if self._is_gone else False

    def end(self) -> None:
        """End it."""
        os.close(self._ask)
        os.close(self._heard)
        with suppress(ChildProcessError):  # nobody waits for children whose end is ignored
            os.waitpid(self._pid, 0)

    def _has(self, number: int, since_s: float) -> bool:
        return self._last_s.get(number, since_s) > since_s

    def _wait_for_an_answer(self) -> None:
        """Until the witness has had a turn: what was sent to it before it has then told, however busy the machine is."""
        until_s = time.monotonic() + ANSWER_S
        self._asked += 1
        mine = self._asked  # a handler that interrupts this one asks as well
        try:
            os.write(self._ask, b"?")
        except OSError:
            self._is_gone = True
        while self._answered < mine and not self._is_gone:
            self._listen(max(0.0, until_s - time.monotonic()))
            self._is_gone |= time.monotonic() > until_s

    def _listen(self, seconds: float) -> None:
        if not select.select([self._heard], [], [], seconds)[0]:
            return
        try:
            told = os.read(self._heard, 64 * _HEARD.size)
        except BlockingIOError:  # a handler that came in between has read it
            return
        self._is_gone |= not told
        for number, at_s in _HEARD.iter_unpack(told):
            if number == ANSWER:
                self._answered += 1
            else:
                self._last_s[number] = at_s


def _hear(numbers: Collection[int], asked: int, heard: int, others: Collection[int]) -> NoReturn:
    """Be the witness, with all signals of `numbers` blocked so far, to the end of the process.

    It closes the descriptors `others`: who reads the script's output must see where it ends, and the end of the process
    that asks must show.
    """
    try:
        for number in numbers:
            signal.signal(number, lambda number, _frame: _tell(heard, number))
        for name in _STOPS:
            signal.signal(getattr(signal, name), signal.SIG_IGN)
        for descriptor in others:
            with suppress(OSError):
                os.close(descriptor)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
        while os.read(asked, 1):
            _tell(heard, ANSWER)
    finally:
        os._exit(0)


def _tell(heard: int, number: int) -> None:
    os.write(heard, _HEARD.pack(number, time.monotonic()))
