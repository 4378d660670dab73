"""Reads a long run in stretches, spread evenly over it: all of it would take minutes and gigabytes, and say no more."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from loaderdoctor.probe.layout import ALWAYS, CLOCK_FIELDS, CONTINUED, KIND_OF, KINDS, RECORD_BYTES, ROLE_MAIN, UNKNOWN
from loaderdoctor.record.chunks import WORDS
from loaderdoctor.record.outline import BEGIN, END, ITERATOR, ORDINAL, outlines_of
from loaderdoctor.record.stretches import NEVER, Stretches

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import numpy.typing as npt

    from loaderdoctor.record.chunks import Header, Rows
    from loaderdoctor.record.outline import Outline

    Choice = npt.NDArray[np.bool_]

MOST_ROWS = 400_000  # 51 MB of records, which take five times as much on their way through the analysis
PARTS = 64  # enough for change over the run to be seen, and few enough for each to hold whole epochs of short ones
LEAST_STEPS = 24  # of a part: its first and last step lack a neighbour

_ALWAYS = frozenset(KIND_OF[name] for name in ALWAYS)
_BY_STEP = frozenset(KIND_OF[name] for name in ("device_step", "copy"))
_CLOCKS = {
    kind: [place for place, name in enumerate(names, 1) if name in CLOCK_FIELDS] for kind, (_, names) in KINDS.items()
}
_ITERATOR_KIND, _STARTED, _PASSED, _SINCE_START = (
    KIND_OF[name] for name in ("iterator", "worker_started", "passed", "since_start")
)
_HOW = 1 + KINDS[_ITERATOR_KIND][1].index("how")


@dataclass(frozen=True)
class View:
    """What of one training process, and of its workers, is read in detail."""

    stretches: Stretches
    steps: Rows  # the calls of next() that are, each as one number, in order
    iterators: Rows  # that they are of
    passed: Rows  # records of what is left out

    def of(self, rows: Rows) -> Rows:
        """The rows of a piece that belong to it, their times joined; changes the piece."""
        kinds = np.where(np.isin(rows[:, 0], list(_CLOCKS)), rows[:, 0], 0)
        keep = np.ones(len(rows), dtype=bool)
        for kind in np.unique(kinds[kinds > 0]).tolist():
            at = np.flatnonzero(kinds == kind)
            keep[at] = self._keeps(kind, rows[at])
            for column in _CLOCKS[kind]:
                rows[at, column] = self.stretches.joined(rows[at, column])
        return rows[keep]

    def _keeps(self, kind: int, rows: Rows) -> Choice | bool:
        if kind in _BY_STEP:
            return np.isin(_step(rows[:, 1], rows[:, 2]), self.steps)
        clocks = _CLOCKS[kind]
        if not clocks:
            return True
        begun, ended = (self.stretches.place(rows[:, column]) for column in (clocks[0], clocks[-1]))
        if kind == _ITERATOR_KIND:
            rows[:, _HOW] = np.where(begun < 0, CONTINUED, rows[:, _HOW])
        if kind == _SINCE_START:  # counts that grow: what they were before a stretch is told by the last one in the gap
            return (begun >= 0) | (np.append(begun[1:], 0) >= 0)
        if kind == _STARTED:
            return (begun >= 0) | np.isin(rows[:, 1], self.iterators)
        return True if kind in _ALWAYS else (begun >= 0) & (begun == ended)


@dataclass(frozen=True)
class Thinning:
    """A view of each training process, and whose workers are whose."""

    mains: Mapping[tuple[int, int], View]
    workers: Mapping[int, View]  # by process id

    def view(self, header: Header) -> View | None:
        """Of the process that a piece belongs to; None for one that is read whole."""
        if header["role"] == ROLE_MAIN:
            return self.mains.get((header["pid"], header["opened_ns"]))
        return self.workers.get(header["pid"])


def thinning_of(files: Iterable[Path]) -> Thinning | None:
    """How to read a run with these record files; None where it is short enough to be read whole."""
    files = list(files)
    rows = sum(file.stat().st_size for file in files if file.is_file()) // RECORD_BYTES
    outlines = {key: one for file in files if file.name.startswith("main-") for key, one in outlines_of(file).items()}
    outlines = {key: one for key, one in outlines.items() if len(one.calls)}
    if not outlines or (rows <= MOST_ROWS and not any(one.is_thinned for one in outlines.values())):
        return None
    recorded = [one.recorded() for one in outlines.values()]
    stretches = reduce(Stretches.common, [one for one in recorded if one.is_broken] or recorded[:1])
    if rows > MOST_ROWS:
        most = max(len(one.calls) for one in outlines.values())
        share = min(1.0, MOST_ROWS / rows)
        stretches = stretches.evenly(share, max(2, min(PARTS, int(share * most / LEAST_STEPS))))
    mains = {key: _view(outline, stretches) for key, outline in outlines.items()}
    workers = {pid: mains[key] for key, one in outlines.items() for pid in one.workers[:, 1].tolist()}
    return Thinning(mains, workers)


def _view(outline: Outline, wanted: Stretches) -> View:
    """Of one process: from the first step that begins in a stretch to the first one that begins behind it."""
    begins, ends = outline.calls[:, BEGIN], outline.step_ends()
    firsts, lasts = np.searchsorted(begins, wanted.begin_ns), np.searchsorted(begins, wanted.end_ns)
    spans = [(int(begins[a]), int(ends[b - 1])) for a, b in zip(firsts, lasts, strict=True) if a < b]
    stretches = Stretches.of(spans or [(0, NEVER)])
    kept = stretches.place(begins) >= 0
    calls = outline.calls[kept]
    return View(
        stretches,
        np.sort(_step(calls[:, ITERATOR], calls[:, ORDINAL])),
        np.unique(calls[:, ITERATOR]),
        _passed(outline, kept, stretches),
    )


def _step(iterator: Rows, ordinal: Rows) -> Rows:
    return (iterator << 40) + ordinal


def _passed(outline: Outline, kept: Choice, stretches: Stretches) -> Rows:
    """One record a loader of its batches that are left out, the epochs of which no batch is left, and the waits for them."""
    batches, is_kept = outline.batches, kept[outline.calls[:, 4] == 0]
    turn = _turns(outline.loops, batches)
    left = ~is_kept & (turn >= 0)
    rows = []
    for loader in np.unique(outline.loops[turn[left], 1]).tolist():
        own = left & (outline.loops[turn, 1] == loader)
        epochs = len(np.setdiff1d(turn[own], turn[is_kept]))
        wait_ns = int((batches[own, END] - batches[own, BEGIN]).sum())
        at = (int(stretches.begin_ns[0]), int(stretches.begin_ns[-1]), UNKNOWN, UNKNOWN)
        rows.append([_PASSED, *at, loader, int(own.sum()), epochs, wait_ns])
    return np.asarray([row + [0] * (WORDS - len(row)) for row in rows], dtype=np.int64).reshape(-1, WORDS)


def _turns(loops: Rows, batches: Rows) -> Rows:
    """For each batch the row of its loop: the last that began by then of those that its iterator served; -1 for none."""
    order, by_iterator = np.lexsort((loops[:, 2], loops[:, 0])), np.argsort(batches[:, ITERATOR], kind="stable")
    begun, iterators = loops[order], batches[by_iterator, ITERATOR]
    turns = np.full(len(batches), -1, dtype=np.int64)
    for iterator in np.unique(begun[:, 0]).tolist():
        low, high = np.searchsorted(begun[:, 0], [iterator, iterator + 1])
        own = by_iterator[slice(*np.searchsorted(iterators, [iterator, iterator + 1]))]
        at = low + np.searchsorted(begun[low:high, 2], batches[own, BEGIN], side="right") - 1
        turns[own] = np.where(at >= low, order[at.clip(min=0)], -1)
    return turns
