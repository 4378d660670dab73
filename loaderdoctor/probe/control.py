"""The page that all processes of a run share: what one says there the others know, at no system call."""

from __future__ import annotations

import os
from contextlib import suppress
from time import perf_counter_ns

from .descriptors import open_aside
from .mapping import Mapping, map_file

NAME = "control.bin"
PAGE_BYTES = 4096
WORD_BYTES = 8
ENDED = 0  # word: not 0 once nothing of the run is recorded any more
STOP = 1  # first word of what ends all ranks after the same step
WINDOWS_FROM = 10  # word: when the first of the windows began that --every asks for
LOST_RECORDS, LOST_ERRNO = 8, 9  # words: records of processes that have no record file to say so in, and why
LOOK_EVERY_NS = 100_000_000  # where the page cannot be mapped: a look costs 10 us, and nothing on it is more urgent


def create(run_dir: str) -> None:
    """Make the page of a run.  Raises OSError."""
    descriptor = os.open(os.path.join(run_dir, NAME), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, bytes(PAGE_BYTES))
    finally:
        os.close(descriptor)


class Control:
    """The page of one run as a process sees it; where there is none, every word is 0 and stays so."""

    def __init__(self, path: str, mapping: Mapping | None = None) -> None:
        self._path = path
        self._mapping = mapping
        self._words: memoryview[int] = memoryview(bytes(PAGE_BYTES)).cast("q") if mapping is None else mapping.words
        self._looked_ns = 0

    @classmethod
    def open(cls, run_dir: str) -> Control:
        """The page of this run; never raises."""
        path = os.path.join(run_dir, NAME)
        try:
            descriptor = open_aside(path, os.O_RDWR)
        except OSError:
            return cls(path)
        try:
            is_whole = os.fstat(descriptor).st_size >= PAGE_BYTES
            return cls(path, map_file(descriptor, 0, PAGE_BYTES) if is_whole else None)
        except OSError:
            return cls(path)
        finally:
            with suppress(OSError):
                os.close(descriptor)

    @property
    def ended(self) -> bool:
        """Whether nothing is to be recorded any more."""
        return (self._words if self._mapping is not None else self._looked_at())[ENDED] != 0

    def word(self, index: int) -> int:
        """What it says there now."""
        return (self._words if self._mapping is not None else self._looked_at())[index]

    def set_word(self, index: int, value: int) -> None:
        """Say something; the last one to do so counts."""
        if self._mapping is not None:
            self._words[index] = value
            return
        with suppress(OSError):
            descriptor = open_aside(self._path, os.O_WRONLY)
            try:
                os.pwrite(descriptor, value.to_bytes(WORD_BYTES, "little", signed=True), index * WORD_BYTES)
            finally:
                os.close(descriptor)
            self._look()

    def _looked_at(self) -> memoryview[int]:
        if perf_counter_ns() - self._looked_ns > LOOK_EVERY_NS:
            self._look()
        return self._words

    def _look(self) -> None:
        self._looked_ns = perf_counter_ns()
        with suppress(OSError):
            descriptor = open_aside(self._path, os.O_RDONLY)
            try:
                page = os.pread(descriptor, PAGE_BYTES, 0)
            finally:
                os.close(descriptor)
            if len(page) == PAGE_BYTES:
                self._words = memoryview(page).cast("q")
