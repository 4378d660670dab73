"""The thread of the parent that asks every sampler in turn, and writes down what it says."""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from loaderdoctor.sample.sampler import Closing, Glancer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from loaderdoctor.sample.sampler import Note, Sampler, Tree

# Five short looks a second are 300 observations in a minute; waking up costs as much as looking at ten processes does.
# The length shares no rhythm with the 100 ms periods of CPU quotas.
GLANCE_S = 0.197
ROW_S = 1.0
# After ten minutes rows grow rarer in step with the length of the run, so that a day leaves a few thousand of them; the
# counters in them lose nothing by it.
ROWS_AT_FULL_RATE = 600
SLOWEST_ROW_S = 30.0
MOST_FAILURES = 3  # in a row; a sampler that fails so often has met something that it does not know


class Sampling:
    """Samplers at work; `stop` takes a last row and ends the thread."""

    def __init__(self, folder: Path, samplers: Sequence[Sampler], tree: Tree) -> None:
        self._folder = folder
        self._samplers = list(samplers)
        self._glancers = [sampler for sampler in samplers if isinstance(sampler, Glancer)]
        self._files: dict[str, TextIO] = {}
        self._tree = tree
        self._failures: dict[str, int] = {}
        self._own_notes: dict[str, str] = {}
        self._stopped = threading.Event()
        self._began_s = time.perf_counter()
        self._thread = threading.Thread(target=self._run, name="loaderdoctor-samplers", daemon=True)

    def begin(self) -> None:
        """Start the thread."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._thread.start()

    def stop(self) -> None:
        """Take a last row and end; what blocks a sampler (a hanging file system, a driver) is left behind."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2 * ROW_S)

    @property
    def notes(self) -> list[Note]:
        """What could not be sampled, and why."""
        found = list(self._own_notes.items())
        for sampler in self._samplers:
            with suppress(Exception):
                found.extend(sampler.notes())
        return found

    def _run(self) -> None:
        self.write_rows()
        begun_cpu_s = time.thread_time()  # imports and first looks, paid once
        next_row_s = self._began_s + ROW_S
        while not self._stopped.is_set():
            now_s = time.perf_counter()
            if now_s >= next_row_s:
                self.write_rows()
                next_row_s = now_s + row_interval_s(now_s - self._began_s)
            else:
                self._glance()
            self._stopped.wait(GLANCE_S)
        self.write_rows()
        self._write("sampling", {"begun_cpu_s": begun_cpu_s, "cpu_s": time.thread_time()})
        for holder in (self._tree, *self._samplers, *self._files.values()):
            if isinstance(holder, Closing):
                self._ask("closing", holder.close)

    def _glance(self) -> None:
        for sampler in self._glancers:
            self._ask("states", sampler.glance)

    def write_rows(self) -> None:
        """One row of every sampler that has something to say."""
        pids = self._ask("tree", self._tree.pids) or ()
        for sampler in list(self._samplers):
            row = self._ask(sampler.name, partial(sampler.sample, pids))
            if row:
                self._write(sampler.name, row)
            if self._failures.get(sampler.name, 0) >= MOST_FAILURES:
                self._samplers.remove(sampler)

    def _ask(self, name: str, question: Callable[[], Any]) -> Any:
        try:
            answer = question()
        except Exception as error:  # noqa: BLE001 - sampling is an extra: whatever goes wrong in it, the run goes on
            self._failures[name] = self._failures.get(name, 0) + 1
            self._own_notes["sampler-failed"] = f"The sampler of {name} failed: {type(error).__name__}: {error}"
            return None
        self._failures[name] = 0
        return answer

    def _write(self, name: str, row: dict[str, Any]) -> None:
        line = json.dumps({"at_ns": time.perf_counter_ns(), **row}, separators=(",", ":"))
        try:
            if name not in self._files:
                path = self._folder / f"{name}.jsonl"
                path.touch(mode=0o600)
                self._files[name] = path.open("a", buffering=1, encoding="utf-8")
            self._files[name].write(line + "\n")  # line buffered: a killed parent leaves whole rows
        except OSError as error:
            self._own_notes["samples-lost"] = f"Samples could not be written: {error.strerror}."


def row_interval_s(elapsed_s: float) -> float:
    """Seconds to the next row, that long after the first."""
    return min(max(ROW_S, elapsed_s / ROWS_AT_FULL_RATE), SLOWEST_ROW_S)
