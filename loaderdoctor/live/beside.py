"""The thread of the parent that looks at a run while it goes on."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from loaderdoctor.live.pace import Pace, next_line_s
from loaderdoctor.live.rendering import Rendering
from loaderdoctor.live.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

    from loaderdoctor.record.glance import Glance

NS = 1e9
GIVE_UP_AFTER = 3  # reports in a row that could not be made: the one at the end says why
PATIENCE_S = 2.0  # at the end; what hangs (a dead network file system) is left behind


class Beside:
    """Looks at the run in a directory until the context is left; whatever fails in it, the run goes on."""

    def __init__(
        self,
        run_dir: Path,
        *,
        steps: int | None = None,
        seconds: float | None = None,
        lang: str = "en",
        pace: Pace | None = None,
        terminal: Terminal | None = None,
        now_ns: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        self._run_dir, self._steps, self._seconds, self._lang = run_dir, steps, seconds, lang
        self._pace = pace or Pace()
        self._terminal = terminal or Terminal()
        self._now_ns = now_ns
        self._rendering = Rendering(run_dir, lang)
        self._line_s, self._report_s = next_line_s(0.0), self._pace.first_s
        self._has_reported = False
        self._failures = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="loaderdoctor-live", daemon=True)

    def __enter__(self) -> None:
        """Begin."""
        with suppress(RuntimeError):  # no further thread to be had
            self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End, with a report that is being made."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(timeout=PATIENCE_S)
            self._rendering.end()  # where the thread hangs: a late report must not take the place of the last one

    def _run(self) -> None:
        first_ns = None
        try:
            while not self._stopped.wait(self._pace.poll_s):
                if first_ns is None:
                    seen = self._glance()
                    first_ns = seen.first_ns if seen is not None else None
                else:
                    self.look((self._now_ns() - first_ns) / NS)
        except Exception:  # noqa: BLE001 - all of this is an extra: the run and its last report are whole without
            return
        finally:
            self._rendering.end()

    def look(self, elapsed_s: float) -> None:
        """Do what is due so long after the first batch."""
        if self._rendering.is_running:
            self._rendered(elapsed_s)
        if elapsed_s < min(self._line_s, self._report_s):
            return
        seen = self._glance()
        if seen is None:
            return
        if elapsed_s >= self._line_s:
            self._line_s = next_line_s(elapsed_s)
            self._tell(seen)
        if elapsed_s >= self._report_s and seen.steps >= self._pace.steps and not self._rendering.is_running:
            self._report_s = float("inf")
            self._rendering.begin()
            if not self._rendering.is_running:
                self._not_begun(elapsed_s)

    def _not_begun(self, elapsed_s: float) -> None:
        """The system had no process to give: try again, as after a report that failed."""
        self._failures += 1
        if self._failures < GIVE_UP_AFTER:
            self._report_s = elapsed_s + self._pace.least_s

    def _rendered(self, elapsed_s: float) -> None:
        """Where a report is through, say when the next one is due."""
        done = self._rendering.done()
        if done is None:
            return
        self._failures = 0 if done.is_sound else self._failures + 1
        self._report_s = elapsed_s + self._pace.again_s(done.cpu_s)
        if self._failures >= GIVE_UP_AFTER:
            self._report_s = float("inf")
        if done.is_written and not self._has_reported:
            self._has_reported = True
            self._say_where()

    def _tell(self, seen: Glance) -> None:
        width = self._terminal.width
        if width > 0:
            from loaderdoctor.report.progress import progress

            now_ns, steps, seconds = self._now_ns(), self._steps, self._seconds
            line = progress(seen, now_ns, steps=steps, seconds=seconds, lang=self._lang, width=width)
            if line:
                self._terminal.say(line)

    def _say_where(self) -> None:
        width = self._terminal.width
        if width > 0:
            from loaderdoctor.report.progress import first_report

            path = os.path.relpath(self._run_dir / "report.html")
            self._terminal.say(first_report(path, self._lang, width))

    def _glance(self) -> Glance | None:
        from loaderdoctor.record.glance import glance_at

        return glance_at(self._run_dir)
