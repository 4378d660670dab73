"""The records of this process: put into its file from any thread and after any fork, never locked, never raising."""

from __future__ import annotations

import os
import struct
from errno import errorcode
from itertools import count
from time import perf_counter_ns, time_ns
from typing import TYPE_CHECKING, Any

from .control import LOST_ERRNO, LOST_RECORDS, Control
from .detail import Detail
from .faults import pass_on
from .layout import (
    ALWAYS,
    HEADER,
    KIND_OF,
    KINDS,
    MAGIC,
    RECORD_BYTES,
    ROLE_MAIN,
    SCHEMA,
    TEXT,
    TEXT_BYTES,
    TEXT_RECORD,
    UNKNOWN,
)
from .sinks import MappedSink, NotMappableError, WrittenSink

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .watch import Watch

MOST_BYTES = 64_000_000  # of a process, however long it runs: detail thins out before
TRY_AGAIN_AFTER = 1000  # lost records: a disk that was full may have room again
ROLE_NAMES = ("main", "worker")
REASONS = {
    "ENOSPC": "the disk is full",
    "EDQUOT": "the disk quota is used up",
    "EFBIG": "a limit on the size of files (ulimit -f)",
    "EMFILE": "the process is out of file descriptors",
    "ENFILE": "the system is out of file descriptors",
    "EACCES": "the run directory may not be written",
    "EROFS": "the run directory is on a read-only file system",
    "ENOENT": "the run directory is gone",
}
_FIELDS = RECORD_BYTES // 8 - 1
_PACK = tuple(struct.Struct(f"<{1 + fields}q{8 * (_FIELDS - fields)}x").pack for fields in range(_FIELDS + 1))
_NOTE, _END, _LOST, _PASSED = KIND_OF["note"], KIND_OF["end"], KIND_OF["lost"], KIND_OF["passed"]
_IS_DETAIL = tuple(KINDS[kind][0] not in ALWAYS if kind in KINDS else False for kind in range(max(KINDS) + 1))
_LOST_PLACE = 0  # of the reserved records


class Writer:
    """Puts records.  What cannot be written is counted in `lost`, and why is told in a record reserved for it."""

    def __init__(self, run_dir: str) -> None:
        self.directory = os.path.join(run_dir, "records")
        self.role = ROLE_MAIN
        self.worker = UNKNOWN
        self.lost = 0
        self.control = Control.open(run_dir)
        self.detail = Detail(MOST_BYTES)
        self.left: tuple[_Passed, ...] = ()  # until it is known whether their last epochs go on in detail
        self._passed: dict[int, _Passed] = {}  # by loader, of the stretch that goes without detail
        self._sink: MappedSink | WrittenSink | None = None
        self._has_failed = self._closed = self._is_full = self._capped = self._ended = False
        self._why_lost = 0
        self._once: dict[str, Any] = {}  # what threads that come first together agree on
        self._places: dict[int, Any] = {}  # of the one record of a kind that is written over
        self._texts: dict[str, int] = {}  # numbers of the texts of this process's file
        self._next_number = count(1)
        self._main = f"{os.getpid()}-{time_ns()}"  # names the file of this process's workers
        os.register_at_fork(after_in_child=self._forked)

    @property
    def is_open(self) -> bool:
        """Whether this very process has a record file."""
        return self._sink is not None

    def put(self, kind: int, *fields: int) -> None:
        """Append a record of layout.KINDS[kind]; fields left out are 0."""
        if self.detail.passing and _IS_DETAIL[kind]:
            return
        try:
            self._append(_PACK[len(fields)](kind, *fields))
        except (struct.error, IndexError, TypeError) as error:
            pass_on(error)
            self._lose(0)

    def put_all(self, records: Sequence[tuple[int, ...]]) -> None:
        """Append several records, each its kind and its fields."""
        for record in records:
            self.put(*record)

    def put_over(self, kind: int, *fields: int) -> None:
        """Write the one record of this kind that the process has, or write it again."""
        sink = self._sink
        if sink is None or self._closed or self.control.ended:
            return
        place = self._places.get(kind)
        if place is None:
            place = self._places.setdefault(kind, sink.claim())
        sink.put_at(place, _PACK[len(fields)](kind, *fields))

    def step(self, now_ns: int) -> None:
        """A step begins here: detail is recorded from it on, or is not."""
        sink = self._sink
        if sink is None or not self.detail.changes(now_ns, sink.bytes):
            return
        if self.detail.passing:
            detail = self.detail
            self.put(_PASSED, now_ns, now_ns, detail.level, detail.bits, UNKNOWN, 0, 0, 0, detail.window)
            return
        self.left = tuple(self._passed.values())
        self._passed = {}

    def told(self, iterator: int) -> None:
        """The first batch of a stretch with detail came: its epoch is not one that went by without, if it began there."""
        left, self.left = self.left, ()
        for passed in left:
            passed.goes_on(iterator)

    def passed(self, watch: Watch, batch: int, begin_ns: int, end_ns: int) -> None:
        """A batch was taken in a stretch without detail."""
        of_loader = self._passed.get(watch.loader)
        if of_loader is None:
            sink = self._sink
            if sink is None:
                return
            fixed = (self.detail.level, self.detail.bits, watch.loader)
            of_loader = self._passed.setdefault(watch.loader, _Passed(sink, begin_ns, fixed))
        of_loader.add(watch.iterator, is_first=batch == 0, begin_ns=begin_ns, end_ns=end_ns)

    def text(self, text: str) -> int:
        """The number of a text in this process's file; its parts are written when it is new."""
        if self._sink is None:
            self._start()
        number = self._texts.get(text)
        if number is None:
            fresh = next(self._next_number)
            number = self._texts.setdefault(text, fresh)
            if number == fresh:
                self._put_text(number, text.encode("utf-8", "replace"))
        return number

    def note(self, slug: str, sentence: str) -> None:
        """Say something that the reader of the report should know; `slug` has a section in docs/messages.md."""
        self.put(_NOTE, perf_counter_ns(), self.text(slug), self.text(sentence))

    def end(self, why: int) -> None:
        """Say why recording ends, where this process recorded anything; the first reason counts."""
        if self._sink is None or self._ended:
            return
        self._ended, self._capped = True, False
        self.put(_END, perf_counter_ns(), why)

    def close(self) -> None:
        """Write nothing any more."""
        self._closed = True
        sink, self._sink = self._sink, None
        if sink is not None:
            sink.close()

    def _append(self, record: bytes) -> None:
        if self._closed or self.control.ended:
            return
        sink = self._sink or self._start()
        if sink is None or self._capped:
            self._lose(0)
            return
        try:
            sink.put(record)
        except (OSError, NotMappableError) as error:
            pass_on(error)
            self._lose(getattr(error, "errno", None) or 0)
        if sink.bytes > MOST_BYTES and not self._is_full:
            self._is_full = True
            self.note(
                "records-capped",
                f"This process wrote {MOST_BYTES // 1_000_000} MB of records; later ones were dropped.",
            )
            self._capped = True

    def _lose(self, why: int) -> None:
        """Count a record that is not there; 0 stands for a reason that is known already, or none of the system's."""
        self.lost += 1
        if self._sink is not None:
            self._sink.put_reserved(_LOST_PLACE, _PACK[3](_LOST, self.lost, why or self._why_lost, perf_counter_ns()))
        elif not self._closed:
            self.control.set_word(LOST_RECORDS, self.control.word(LOST_RECORDS) + 1)
            self.control.set_word(LOST_ERRNO, why or self._why_lost)
            if self.lost % TRY_AGAIN_AFTER == 0:
                self._has_failed = False
        self._why_lost = why or self._why_lost

    def _put_text(self, number: int, text: bytes) -> None:
        parts = max(1, -(-len(text) // TEXT_BYTES))
        for part in range(parts):
            piece = text[part * TEXT_BYTES : (part + 1) * TEXT_BYTES]
            self._append(TEXT_RECORD.pack(TEXT, number, part, parts, len(piece), piece))

    def _start(self) -> MappedSink | WrittenSink | None:
        """Open this process's file, once, whichever thread comes first; None where there can be none."""
        if self._sink is not None or self._has_failed or self._closed or self.control.ended:
            return self._sink
        once = self._once
        header = once.setdefault("header", self._header())
        try:
            try:
                sink: Any = MappedSink(once.setdefault("shared", self._path(shared=True)), header, reserved=1)
            except NotMappableError:
                sink = WrittenSink(once.setdefault("own", self._path(shared=False)), header, reserved=1)
        except OSError as error:
            pass_on(error)
            self._has_failed, self._why_lost = True, error.errno or 0
            return None
        self._sink = once.setdefault("sink", sink)
        if self._sink is not sink:
            sink.close()
        return self._sink

    def _path(self, *, shared: bool) -> str:
        """A training process has a file of its own; workers share one where they can, however many there come to be."""
        if shared and self.role != ROLE_MAIN:
            return os.path.join(self.directory, f"workers-{self._main}.bin")
        return os.path.join(self.directory, f"{ROLE_NAMES[self.role]}-{os.getpid()}-{time_ns()}.bin")

    def _header(self) -> bytes:
        names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE")
        rank, local_rank, world_size, local_world_size = map(_environment_int, names)
        fields = (
            *(MAGIC, SCHEMA, RECORD_BYTES, self.role, os.getpid(), os.getppid(), perf_counter_ns(), time_ns()),
            *(rank, local_rank, world_size, UNKNOWN, self.worker, local_world_size),
        )
        return _PACK[len(fields)](HEADER, *fields)

    def _forked(self) -> None:
        """In a child: the file, what it lost, and what it has said are the parent's."""
        self._sink, self._has_failed, self._ended = None, False, False
        self._is_full = self._capped = False
        self._texts, self._once, self.lost, self._why_lost = {}, {}, 0, 0
        self._places = {}
        self.detail.forked()
        self._passed, self.left = {}, ()


class _Passed:
    """What one loader gave in a stretch without detail, in a record that is written over with each batch."""

    def __init__(self, sink: Any, begin_ns: int, fixed: tuple[int, ...]) -> None:
        self._sink, self._place = sink, sink.claim()
        self._begin_ns, self._end_ns, self._fixed = begin_ns, begin_ns, fixed
        self._batches = self._epochs = self._wait_ns = 0
        self._began = UNKNOWN  # the iterator whose epoch began last in this stretch

    def add(self, iterator: int, *, is_first: bool, begin_ns: int, end_ns: int) -> None:
        """One more batch."""
        self._batches += 1
        self._wait_ns += end_ns - begin_ns
        self._end_ns = end_ns
        if is_first:
            self._epochs += 1
            self._began = iterator
        self._write()

    def goes_on(self, iterator: int) -> None:
        """The stretch ends in an epoch of this iterator, which is told in detail from here on."""
        if iterator == self._began:
            self._epochs -= 1
            self._write()

    def _write(self) -> None:
        counted = (self._batches, self._epochs, self._wait_ns)
        record = _PACK[8](_PASSED, self._begin_ns, self._end_ns, *self._fixed, *counted)
        self._sink.put_at(self._place, record)


def reason_of(why: int) -> str:
    """What an error of the system means for a record file; for a number that is none, that it is not known."""
    name: Any = errorcode.get(why)
    return REASONS.get(name, f"the system said {name}" if name else "why is not known")


def _environment_int(name: str) -> int:
    try:
        return int(os.environ[name])
    except (KeyError, ValueError):
        return UNKNOWN
