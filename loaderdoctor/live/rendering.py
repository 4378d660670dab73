"""A report on a run that goes on, made by a process of its own: its memory, its time and its faults are not the parent's."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# One thread: pools of linear algebra, one thread a core, would spin on the training's cores for nothing.
ALONE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
OURS = "LOADERDOCTOR_"
WRITTEN, NOT_YET = 0, 4  # how the process ends: a report is there, or there were too few steps for a verdict
# Least of all from its first moment on, before anything is imported; found where this process found us.
CODE = "import os; os.nice(19); import sys; sys.path[:] = {path!r}; from loaderdoctor.live.render import main; main()"
PARTIAL = ".report.*"  # what a report that was broken off leaves


@dataclass(frozen=True)
class Done:
    """How a report came out, and the CPU time that it took."""

    status: int
    cpu_s: float

    @property
    def is_written(self) -> bool:
        """Whether it is there."""
        return self.status == WRITTEN

    @property
    def is_sound(self) -> bool:
        """Whether the next one is worth trying."""
        return self.status in {WRITTEN, NOT_YET}


class Rendering:
    """Makes one report at a time."""

    def __init__(self, run_dir: Path, lang: str) -> None:
        self._run_dir, self._lang = run_dir, lang
        self._process: subprocess.Popen[bytes] | None = None
        self._before_s = 0.0

    @property
    def is_running(self) -> bool:
        """Whether one was begun of which `done` has not told yet."""
        return self._process is not None

    def begin(self) -> None:
        """Make one, in a session of its own: what a terminal sends to all who use it is not for it."""
        env = {name: value for name, value in os.environ.items() if not name.startswith(OURS)} | ALONE
        self._before_s = _children_s()
        nothing = subprocess.DEVNULL
        command = [sys.executable, "-c", CODE.format(path=sys.path), str(self._run_dir), self._lang]
        with suppress(OSError):  # no further process to be had: as one that failed, at no cost
            self._process = subprocess.Popen(  # noqa: S603 - our own code, by the Python that runs us
                command, env=env, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True
            )

    def done(self) -> Done | None:
        """What came of the one that was begun; None while it is being made."""
        process = self._process
        if process is None or process.poll() is None:
            return None
        self._process = None
        return Done(process.returncode, max(0.0, _children_s() - self._before_s))

    def end(self) -> None:
        """Break off the one that is being made: the run's last report is about to be."""
        process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return
        process.kill()
        process.wait()
        with suppress(OSError):
            for partial in self._run_dir.glob(PARTIAL):
                partial.unlink(missing_ok=True)


def _children_s() -> float:
    """CPU time of all children so far that have ended: the script's is added only after the last report."""
    times = os.times()
    return times.children_user + times.children_system
