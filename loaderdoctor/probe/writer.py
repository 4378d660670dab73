"""The record file of this process: opened at the first record, appended to with one write a record, never locked."""

from __future__ import annotations

import os
import struct
from collections import deque
from contextlib import suppress
from itertools import count
from time import perf_counter_ns, time_ns
from typing import TYPE_CHECKING

from .descriptors import open_aside
from .layout import (
    HEADER,
    KIND_OF,
    MAGIC,
    RECORD_BYTES,
    ROLE_MAIN,
    SCHEMA,
    TEXT,
    TEXT_BYTES,
    TEXT_RECORD,
    UNKNOWN,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_BYTES = 200_000_000  # about a million batches; a run that leaves more is not read any better
MOST_SOON = 64  # records that wait for one that follows them
ROLE_NAMES = ("main", "worker")
_FIELDS = RECORD_BYTES // 8 - 1
_PACK = tuple(struct.Struct(f"<{1 + fields}q{8 * (_FIELDS - fields)}x").pack for fields in range(_FIELDS + 1))
_NOTE = KIND_OF["note"]
_END = KIND_OF["end"]


class Writer:
    """Appends records; safe to call from any thread and after any fork, and never raises.

    What cannot be written is counted in `lost`.
    """

    def __init__(self, run_dir: str) -> None:
        self.directory = os.path.join(run_dir, "records")
        self.role = ROLE_MAIN
        self.worker = UNKNOWN
        self.lost = 0
        self._descriptors: dict[
            int, int
        ] = {}  # pid -> descriptor; after a fork the parent's entry is another process's
        self._soon: deque[bytes] = deque()
        os.register_at_fork(after_in_child=self._soon.clear)  # they are the parent's to write
        self._numbers: dict[str, int] = {}  # texts of this process's file
        self._next_number = count(1)
        self._bytes = 0
        self._closed = False
        self._capped = False
        self._ended = False

    @property
    def is_open(self) -> bool:
        """Whether this very process has a record file."""
        return not self._closed and os.getpid() in self._descriptors

    def put(self, kind: int, *fields: int) -> None:
        """Append a record of layout.KINDS[kind]; fields left out are 0."""
        try:
            record = _PACK[len(fields)](kind, *fields)
        except (struct.error, IndexError, TypeError):
            self.lost += 1
        else:
            self._append(self._after_waiting(record) if self._soon else record)

    def put_soon(self, kind: int, *fields: int) -> None:
        """Append a record together with the next one, at no write of its own: for what happens between two batches.

        A process that dies takes no more than those of its last step along.
        """
        try:
            self._soon.append(_PACK[len(fields)](kind, *fields))
        except (struct.error, IndexError, TypeError):
            self.lost += 1
        if len(self._soon) >= MOST_SOON:
            self.put_all([])

    def put_all(self, records: Sequence[tuple[int, ...]]) -> None:
        """Append several records with one write, each its kind and its fields."""
        try:
            packed = b"".join([_PACK[len(record) - 1](*record) for record in records])
        except (struct.error, IndexError, TypeError):
            self.lost += len(records)
        else:
            self._append(self._after_waiting(packed))

    def text(self, text: str) -> int:
        """The number of a text in this process's file; its parts are written when it is new."""
        if os.getpid() not in self._descriptors:
            self._start_file()
        number = self._numbers.get(text)
        if number is None:
            fresh = next(self._next_number)
            number = self._numbers.setdefault(text, fresh)
            if number == fresh:
                self._put_text(number, text.encode("utf-8", "replace"))
        return number

    def note(self, slug: str, sentence: str) -> None:
        """Say something that the reader of the report should know; `slug` has a section in docs/messages.md."""
        self.put(_NOTE, perf_counter_ns(), self.text(slug), self.text(sentence))

    def end(self, why: int) -> None:
        """Say why recording ends, where this process recorded anything; the first reason counts."""
        if not self.is_open or self._ended:
            return
        self._ended, self._capped = True, False
        if self.lost:
            self.note("records-lost", f"{self.lost} records could not be written: disk full, or out of descriptors.")
        self.put(_END, perf_counter_ns(), why)

    def close(self) -> None:
        """Write nothing any more, and give the descriptor back."""
        self._closed = True
        descriptor = self._descriptors.pop(os.getpid(), None)
        if descriptor is not None and descriptor >= 0:
            with suppress(OSError):  # the script has closed it
                os.close(descriptor)

    def _after_waiting(self, packed: bytes) -> bytes:
        """Records after those that wait, each of which one thread takes."""
        waiting = []
        with suppress(IndexError):
            while True:
                waiting.append(self._soon.popleft())
        return b"".join([*waiting, packed])

    def _append(self, records: bytes) -> None:
        descriptor = self._descriptors.get(os.getpid())
        if descriptor is None:
            descriptor = self._start_file()
        if descriptor < 0 or self._capped or self._closed:
            self.lost += 0 if self._closed else len(records) // RECORD_BYTES
            return
        try:
            missing = len(records) - os.write(descriptor, records)
        except OSError:
            missing = len(records)
        self.lost += -(-missing // RECORD_BYTES)
        self._bytes += len(records)
        if self._bytes > MOST_BYTES:
            self._cap()

    def _cap(self) -> None:
        self._bytes = 0  # room for the note itself
        self.note(
            "records-capped", f"This process wrote {MOST_BYTES // 1_000_000} MB of records; later ones were dropped."
        )
        self._capped = True

    def _put_text(self, number: int, text: bytes) -> None:
        parts = max(1, -(-len(text) // TEXT_BYTES))
        for part in range(parts):
            piece = text[part * TEXT_BYTES : (part + 1) * TEXT_BYTES]
            self._append(TEXT_RECORD.pack(TEXT, number, part, parts, len(piece), piece))

    def _start_file(self) -> int:
        """Open this process's file; -1 where there can be none."""
        pid = os.getpid()
        self._numbers, self._bytes = {}, 0
        if self._descriptors:  # a fork: what its parent lost is the parent's
            self.lost = 0
        self._capped = self._ended = False
        if self._closed:
            return -1
        path = os.path.join(self.directory, f"{ROLE_NAMES[self.role]}-{pid}-{time_ns()}.bin")
        try:
            descriptor = self._new_file(path, pid)
        except OSError:
            return self._descriptors.setdefault(pid, -1)
        ours = self._descriptors.setdefault(pid, descriptor)
        if ours != descriptor:  # another thread was first: no lock, so the second file goes away again
            with suppress(OSError):
                os.close(descriptor)
                os.unlink(path)
        return ours

    def _new_file(self, path: str, pid: int) -> int:
        """A file with its header; none at all where the disk has no room for that.  Raises OSError."""
        descriptor = open_aside(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            os.write(descriptor, self._header(pid))
        except OSError:
            os.close(descriptor)
            os.unlink(path)
            raise
        return descriptor

    def _header(self, pid: int) -> bytes:
        rank, local_rank, world_size = (_environment_int(name) for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE"))
        fields = (
            *(MAGIC, SCHEMA, RECORD_BYTES, self.role, pid, os.getppid(), perf_counter_ns(), time_ns()),
            *(rank, local_rank, world_size, UNKNOWN, self.worker),
        )
        return _PACK[len(fields)](HEADER, *fields)


def _environment_int(name: str) -> int:
    try:
        return int(os.environ[name])
    except (KeyError, ValueError):
        return UNKNOWN
