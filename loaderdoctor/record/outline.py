"""What a training process did, in as few columns as tell which stretches of it to look at."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.probe.layout import KIND_OF, KINDS, NEXT_BATCH, ROLE_MAIN, UNKNOWN
from loaderdoctor.record.chunks import pieces
from loaderdoctor.record.stretches import NEVER, Stretches

if TYPE_CHECKING:
    from pathlib import Path

    from loaderdoctor.record.chunks import Rows

_CALL = ("iterator", "ordinal", "begin_ns", "end_ns", "status", "depth")
_LOOP = ("iterator", "loader", "begin_ns")
_WORKER = ("iterator", "pid")
_PASSED = ("begin_ns", "level", "bits", "loader", "window")
_OF_KIND = {"next": _CALL, "iterator": _LOOP, "worker_started": _WORKER, "passed": _PASSED}
FIRST_STEPS = 250  # the start of a run is looked at beyond its warm-up, whatever else
ITERATOR, ORDINAL, BEGIN, END, STATUS, DEPTH = range(len(_CALL))


@dataclass(frozen=True)
class Outline:
    """Of one process: its outermost calls of next() by their begin, its loops, its workers, and what it left out itself.

    Columns as named above; `passed` are the stretches that were recorded without detail.
    """

    calls: Rows
    loops: Rows
    workers: Rows
    passed: Rows

    @property
    def is_thinned(self) -> bool:
        """Whether the process itself recorded stretches without detail."""
        return len(self.passed) > 0

    def step_ends(self) -> Rows:
        """When the step of each call ended: with the next call, told or not."""
        begins = self.calls[:, BEGIN]
        asked = np.sort(np.concatenate([begins, self.passed[self.passed[:, 3] == UNKNOWN, 0], [NEVER]]))
        ends: Rows = asked[np.searchsorted(asked, begins, side="right")]
        return ends

    def recorded(self) -> Stretches:
        """What it recorded in detail at the rate of its end, so that no part of the run counts for more than another."""
        first, last = int(self.calls[0, BEGIN]), int(self.calls[-1, END]) + 1
        if not self.is_thinned:
            return Stretches.of([(first, last)])
        if not self.passed[0, 2]:
            return self._windows(first, last)
        begins = self.passed[self.passed[:, 3] == UNKNOWN, 0]
        length, level = 1 << int(self.passed[0, 2]), int(self.passed[:, 1].max())
        start = int(self.calls[min(FIRST_STEPS, len(self.calls) - 1), BEGIN])
        spans = [(first, min(start, _next(begins, first)))]
        for begin in range(first // length >> level << level, last // length + 1, 1 << level):
            span = max(first, begin * length), min(last, (begin + 1) * length)
            spans.append((span[0], min(span[1], _next(begins, span[0]))))
        return Stretches.of(sorted(spans))

    def _windows(self, first: int, last: int) -> Stretches:
        """Those that have detail at the rate of the end, each from its first call on; the last one may not have ended."""
        ended = self.passed[self.passed[:, 3] == UNKNOWN]
        ended = ended[np.argsort(ended[:, 0], kind="stable")]
        level, spans, begin = int(ended[:, 1].max()), [], first
        for end, window in ended[:, [0, 4]].tolist():
            if window and (window - 1) % (1 << level) == 0:
                spans.append((begin, end))
            begin = max(end, self._asked_from(end))
        return Stretches.of([*spans, (begin, last)] if begin < last else spans)

    def _asked_from(self, begin_ns: int) -> int:
        at = int(np.searchsorted(self.calls[:, BEGIN], begin_ns))
        return int(self.calls[at, BEGIN]) if at < len(self.calls) else NEVER

    @property
    def batches(self) -> Rows:
        """The calls that gave a batch."""
        batches: Rows = self.calls[self.calls[:, STATUS] == NEXT_BATCH]
        return batches


def _next(times: Rows, after_ns: int) -> int:
    later = times[times > after_ns]
    return int(later.min()) if len(later) else NEVER


def outlines_of(path: Path) -> dict[tuple[int, int], Outline]:
    """Of each training process in a record file, by pid and the time when it began to record; none of one that is damaged."""
    found: dict[tuple[int, int], dict[str, list[Rows]]] = {}
    with suppress(OSError, LoaderDoctorError):  # the reader itself says so
        for header, rows in pieces(path):
            if header["role"] != ROLE_MAIN:
                continue
            parts = found.setdefault((header["pid"], header["opened_ns"]), {name: [] for name in _OF_KIND})
            for name, fields in _OF_KIND.items():
                parts[name].append(_columns(rows, name, fields))
    return {key: _outline(parts) for key, parts in found.items()}


def _columns(rows: Rows, name: str, fields: tuple[str, ...]) -> Rows:
    kind = KIND_OF[name]
    places = [1 + KINDS[kind][1].index(field) for field in fields]
    chosen: Rows = rows[rows[:, 0] == kind][:, places]
    return chosen


def _outline(parts: dict[str, list[Rows]]) -> Outline:
    calls, loops, workers, passed = (np.concatenate(parts[name]) for name in _OF_KIND)
    calls = calls[calls[:, DEPTH] <= 0]
    return Outline(calls[np.argsort(calls[:, BEGIN], kind="stable")], loops, workers, passed)
