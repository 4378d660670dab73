"""The script as a child of this process: its own terminal, signals and exit status."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import FrameType

BOOTSTRAP = Path(__file__).with_name("bootstrap")
FORWARDED = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCONT")
# The terminal sends these to the whole process group, so the script gets them itself.
FROM_THE_TERMINAL = ("SIGINT", "SIGQUIT")
GRACE_S = 30.0  # after --seconds: the probe ends the script at its next batch; longer steps than this are rare
STEP_S = 10.0  # between interrupting, terminating and killing a script that does not end
POLL_S = 0.05
SHELL_SIGNAL = 128


def environment(run_dir: Path, *, steps: int | None, seconds: float | None) -> dict[str, str]:
    """The child's environment: ours, and the way to the probe."""
    env = dict(os.environ)
    env["PYTHONPATH"] = os.pathsep.join([str(BOOTSTRAP), *filter(None, [env.get("PYTHONPATH")])])
    env["LOADERDOCTOR_RUN"] = str(run_dir)
    for name, value in (("LOADERDOCTOR_STEPS", steps), ("LOADERDOCTOR_SECONDS", seconds)):
        env.pop(name, None)
        if value is not None:
            env[name] = str(value)
    return env


class Child:
    """A started command."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        """Start it.  OSError where it cannot be."""
        self.process = subprocess.Popen(list(argv), env=dict(env))
        self.was_interrupted = False

    @property
    def pid(self) -> int:
        """Process id."""
        return self.process.pid

    def wait(self, first_batch_ns: Callable[[], int | None], seconds: float | None) -> tuple[int, bool]:
        """(exit status as `subprocess` gives it, whether --seconds had to be enforced from outside)."""
        with self._signals():
            if seconds is None:
                return self.process.wait(), False
            return self._wait_at_most(first_batch_ns, seconds)

    def _wait_at_most(self, first_batch_ns: Callable[[], int | None], seconds: float) -> tuple[int, bool]:
        """As `wait`; interrupts, terminates and kills where the script comes to no next batch for too long."""
        harsher = iter((signal.SIGINT, signal.SIGTERM, signal.SIGKILL))
        due_ns: int | None = None
        enforced = False
        while True:
            try:
                return self.process.wait(timeout=POLL_S), enforced
            except subprocess.TimeoutExpired:
                pass
            if due_ns is None:
                first_ns = first_batch_ns()
                due_ns = None if first_ns is None else first_ns + int((seconds + GRACE_S) * 1e9)
            elif time.perf_counter_ns() > due_ns:
                enforced = True
                self.process.send_signal(next(harsher, signal.SIGKILL))
                due_ns = time.perf_counter_ns() + int(STEP_S * 1e9)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Ours are the child's meanwhile."""
        before = {}
        for name in (*FORWARDED, *FROM_THE_TERMINAL):
            number = getattr(signal, name, None)
            if number is not None:
                handler = self._note_interrupt if name in FROM_THE_TERMINAL else self._forward
                before[number] = signal.signal(number, handler)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _forward(self, number: int, _frame: FrameType | None) -> None:
        self.process.send_signal(number)

    def _note_interrupt(self, _number: int, _frame: FrameType | None) -> None:
        self.was_interrupted = True


def shell_status(returncode: int) -> int:
    """The status that a shell would show: 128 + n for a death by signal n."""
    return SHELL_SIGNAL - returncode if returncode < 0 else returncode


def end_as(returncode: int) -> int:
    """Die of the signal the script died of, so that whoever started us sees it; else its status to exit with."""
    if returncode < 0:
        if -returncode != signal.SIGKILL:  # nobody may handle it, and nobody may set it back
            signal.signal(-returncode, signal.SIG_DFL)
        os.kill(os.getpid(), -returncode)
    return shell_status(returncode)
