"""How far a run is by now, from few columns of one training process: cheap enough to be asked while the training runs."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.probe.layout import KIND_OF, KINDS, NEXT_BATCH, NEXT_END, ROLE_MAIN, UNKNOWN
from loaderdoctor.record.chunks import pieces

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from loaderdoctor.record.chunks import Rows

LEFT_OUT_SHARE, MOST_LEFT_OUT = 0.1, 200  # the first steps, as many as the report leaves out of a run of that length
MOST_PROCESSES = 8  # the largest files: of more ranks, a line on a terminal need not be exact
SAME_WORK = 0.5  # of the steps of the one that made most; others are no ranks of the same job
_COLUMNS = {
    "next": ("iterator", "begin_ns", "end_ns", "status", "depth"),
    "iterator": ("iterator", "loader", "begin_ns", "end_ns"),
    "loader": ("loader", "site_text", "settings_text"),
    "passed": ("begin_ns", "end_ns", "loader", "batches", "wait_ns"),
    "device_step": ("wait_ns", "copy_ns", "step_ns"),
}
_ITERATOR, _BEGIN, _END, _STATUS, _DEPTH = range(5)


@dataclass(frozen=True)
class Glance:
    """Of the training process that waits most, of those that do about as much: ranks of a job wait for each other.

    `steps` are batches of the loader that gave most; `wait_share` is of the time after the first steps: None where none ended.
    """

    steps: int
    first_ns: int  # the first batch was asked for
    last_ns: int  # the last next() had its answer
    wait_share: float | None
    on_device: bool  # the share is the device's


def glance_at(run_dir: Path) -> Glance | None:
    """The run in this directory, which may be written to meanwhile; None before its first batch."""
    sizes: dict[Path, int] = {}
    for path in (run_dir / "records").glob("main-*.bin"):
        with suppress(OSError):
            sizes[path] = path.stat().st_size
    found = []
    for path in sorted(sizes, key=lambda path: (-sizes[path], path.name))[:MOST_PROCESSES]:
        with suppress(OSError, LoaderDoctorError):  # the report says so
            found.append(_seen(_columns(path)))
    seen = [one for one in found if one is not None]
    if not seen:
        return None
    most = max(one.steps for one in seen)
    ranks = [one for one in seen if one.steps >= most * SAME_WORK]
    return max(ranks, key=lambda one: one.wait_share or 0.0)


def _columns(path: Path) -> dict[str, Rows]:
    parts: dict[str, list[Rows]] = {name: [] for name in _COLUMNS}
    for header, rows in pieces(path):
        if header["role"] == ROLE_MAIN:
            for name, fields in _COLUMNS.items():
                places = [1 + KINDS[KIND_OF[name]][1].index(field) for field in fields]
                parts[name].append(rows[rows[:, 0] == KIND_OF[name]][:, places])
    return {
        name: np.concatenate(found) if found else np.empty((0, len(_COLUMNS[name])), dtype=np.int64)
        for name, found in parts.items()
    }


def _seen(columns: Mapping[str, Rows]) -> Glance | None:
    calls, passed = columns["next"], columns["passed"]
    calls = calls[calls[:, _DEPTH] <= 0]
    ended, calls = calls[calls[:, _STATUS] == NEXT_END], calls[calls[:, _STATUS] == NEXT_BATCH]
    passed = passed[passed[:, 2] != UNKNOWN]
    if not len(calls):
        return None
    calls = calls[np.argsort(calls[:, _BEGIN], kind="stable")]
    batches = _batches(calls, columns["iterator"], columns["loader"], passed)
    left_out = min(MOST_LEFT_OUT, int(LEFT_OUT_SHARE * len(calls)))
    begin_ns = int(calls[left_out, _BEGIN])
    last_ns = int(max(one.max(initial=0) for one in (calls[:, _END], ended[:, _END], passed[:, 1])))
    waits = np.concatenate([calls[:, [_BEGIN, _END]], ended[:, [_BEGIN, _END]], columns["iterator"][:, 2:4]])
    waits = waits[waits[:, 0] >= begin_ns]
    waited_ns = int((waits[:, 1] - waits[:, 0]).sum() + passed[:, 4].sum())
    share = waited_ns / (last_ns - begin_ns) if last_ns > begin_ns else None
    device = _device_share(columns["device_step"])
    return Glance(
        steps=max(batches.values()),
        first_ns=int(calls[0, _BEGIN]),
        last_ns=last_ns,
        wait_share=share if device is None else device,
        on_device=device is not None,
    )


def _batches(calls: Rows, loops: Rows, loaders: Rows, passed: Rows) -> dict[tuple[int, int], int]:
    """How many batches each loader gave, in detail or not; those built anew at one place with one set of settings are one."""
    loader_of = dict(loops[:, :2].tolist())
    built = {loader: (site, settings) for loader, site, settings in loaders.tolist()}
    iterators, counts = np.unique(calls[:, _ITERATOR], return_counts=True)
    told = [
        (loader_of.get(one, UNKNOWN), count) for one, count in zip(iterators.tolist(), counts.tolist(), strict=True)
    ]
    found: dict[tuple[int, int], int] = {}
    for loader, count in (*told, *passed[:, 2:4].tolist()):
        key = built.get(loader, (UNKNOWN, loader))
        found[key] = found.get(key, 0) + count
    return found


def _device_share(steps: Rows) -> float | None:
    """Waits and copies that the device felt, where its clock told how long whole steps were; copies are told of some steps."""
    steps = steps[min(MOST_LEFT_OUT, int(LEFT_OUT_SHARE * len(steps))) :]
    steps = steps[steps[:, 2] > 0]
    if not len(steps):
        return None
    parts = (steps[steps[:, column] >= 0] for column in (0, 1))
    return sum(float(told[:, at].sum() / told[:, 2].sum()) for at, told in enumerate(parts) if len(told))
