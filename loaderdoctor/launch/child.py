"""The script as a child of this process: its own terminal, signals and exit status."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.launch.witness import Witness

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from types import FrameType


def _numbers(*names: str) -> frozenset[int]:
    """Those of the signals that this system has."""
    return frozenset(getattr(signal, name) for name in names if hasattr(signal, name))


BOOTSTRAP = Path(__file__).with_name("bootstrap")
VARIABLES = (
    *("LOADERDOCTOR_RUN", "LOADERDOCTOR_STEPS", "LOADERDOCTOR_SECONDS", "LOADERDOCTOR_TRACE_WINDOW"),
    *("LOADERDOCTOR_WINDOWS", "LOADERDOCTOR_INJECTED"),
)
FORWARDED = _numbers("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCONT")
# A terminal sends these to the whole process group: where nobody can tell, the script has got them itself.
INTERRUPTS = _numbers("SIGINT", "SIGQUIT")
GRACE_S = 30.0  # after --seconds: the probe ends the script at its next batch; longer steps than this are rare
PATIENCE_S = 10.0  # between interrupting, terminating and killing: time to write a checkpoint in
POLL_S = 0.25  # coarse against the grace, fine enough to be no load
SHELL_SIGNAL = 128


def environment(
    run_dir: Path,
    *,
    steps: int | None = None,
    seconds: float | None = None,
    trace_window: int | None = None,
    windows: tuple[float, float] | None = None,
    injected: str | None = None,
) -> dict[str, str]:
    """What a process below this one needs in its environment to be recorded, PYTHONPATH as it would be and ours first."""
    path = os.pathsep.join([str(BOOTSTRAP), *filter(None, [os.environ.get("PYTHONPATH")])])
    every_for = None if windows is None else f"{windows[0]}:{windows[1]}"
    values = zip(VARIABLES, (run_dir, steps, seconds, trace_window, every_for, injected), strict=True)
    return {"PYTHONPATH": path} | {name: str(value) for name, value in values if value is not None}


class Child:
    """A command that runs; made by `started`."""

    def __init__(self) -> None:
        self.was_interrupted = False  # by Ctrl-C or Ctrl-\
        self._process: subprocess.Popen[bytes] | None = None
        self._too_early: list[int] = []
        self._witness: Witness | None = None

    def start(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        surroundings: Mapping[str, Any],
        before_exec: Callable[[], object] | None = None,
    ) -> None:
        """Start the command.  LoaderDoctorError `command-not-started` where it cannot be."""
        try:
            self._process = subprocess.Popen(list(argv), env=dict(env), preexec_fn=before_exec, **surroundings)  # noqa: PLW1509 - it resets a signal, in a process without threads
        except OSError as error:
            sentence = f"{argv[0]} cannot be started: {error.strerror}."
            raise LoaderDoctorError("command-not-started", sentence) from None
        for number in self._too_early:
            self._process.send_signal(number)

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The process, once started."""
        assert self._process is not None  # noqa: S101 - `started` hands out no other
        return self._process

    def wait(self, first_batch_ns: Callable[[], int | None], seconds: float | None) -> tuple[int, bool]:
        """(exit status as `subprocess` gives it, whether --seconds had to be enforced from outside).

        `first_batch_ns` says when the run's first batch was there, which is when its seconds begin.
        """
        if seconds is None:
            return self.process.wait(), False
        due_ns = None
        while due_ns is None:
            with suppress(subprocess.TimeoutExpired):
                return self.process.wait(timeout=POLL_S), False
            first_ns = first_batch_ns()
            due_ns = None if first_ns is None else first_ns + int((seconds + GRACE_S) * 1e9)
        with suppress(subprocess.TimeoutExpired):
            return self.process.wait(timeout=max(0.0, (due_ns - time.perf_counter_ns()) / 1e9)), False
        return self._end(), True

    def _end(self) -> int:
        for number in (signal.SIGINT, signal.SIGTERM):
            self.process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                return self.process.wait(timeout=PATIENCE_S)
        self.process.kill()
        return self.process.wait()

    @contextmanager
    def heard_beside(self, numbers: Collection[int]) -> Iterator[None]:
        """Know which of these signals are sent to others as well, as far as this system lets us."""
        with suppress(OSError, AttributeError):  # no process to be had, or no way to fork one
            self._witness = Witness(numbers)
        try:
            yield
        finally:
            if self._witness is not None:
                self._witness.end()

    def handle(self, number: int, _frame: FrameType | None) -> None:
        """Handle a signal to this process; where it was sent to it alone the child is meant."""
        self.was_interrupted |= number in INTERRUPTS
        if self._process is None:
            self._too_early.append(number)
        elif not self._has_got(number):
            self._process.send_signal(number)

    def _has_got(self, number: int) -> bool:
        heard = self._witness.heard(number) if self._witness is not None else None
        return number in INTERRUPTS if heard is None else heard


@contextmanager
def started(argv: Sequence[str], env: Mapping[str, str], **surroundings: Any) -> Iterator[Child]:
    """Run a command natively; until the context is left, signals to this process are its signals.

    `surroundings` are its working directory and streams, as `subprocess` takes them, where they are not this process's own.
    Signals that are ignored here stay so, for both (nohup); others are handled by functions, which a child never inherits.
    """
    child = Child()
    numbers = [number for number in FORWARDED | INTERRUPTS if signal.getsignal(number) not in {signal.SIG_IGN, None}]
    before: dict[int, Any] = {}
    with child.heard_beside(numbers):
        try:
            before |= {number: signal.signal(number, child.handle) for number in numbers}
            child.start(argv, env, surroundings, _children_seen(before))
            yield child
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _children_seen(before: dict[int, Any]) -> Callable[[], object] | None:
    """Let this process see how its child ends where it began with SIGCHLD ignored; what the child does to begin so too."""
    number = getattr(signal, "SIGCHLD", None)
    if number is None or signal.getsignal(number) != signal.SIG_IGN:
        return None
    before[number] = signal.signal(number, signal.SIG_DFL)
    return lambda: signal.signal(number, signal.SIG_IGN)


def shell_status(returncode: int) -> int:
    """The status that a shell would show: 128 + n for a death by signal n."""
    return SHELL_SIGNAL - returncode if returncode < 0 else returncode


def end_as(returncode: int) -> int:
    """Die of the signal the script died of, so that whoever started us sees it; else its status to exit with."""
    if returncode < 0:
        _leave_no_core()
        with suppress(OSError):  # SIGKILL and SIGSTOP: nobody may handle them, and nobody may set them back
            signal.signal(-returncode, signal.SIG_DFL)
        os.kill(os.getpid(), -returncode)
    return shell_status(returncode)


def _leave_no_core() -> None:
    """The core file that somebody looks for is the script's."""
    try:
        import resource
    except ImportError:  # Windows, which has no core files either
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
