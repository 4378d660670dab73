"""Reads a run directory back: run.json, the record file of each process, the samples, the sources."""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.probe import control
from loaderdoctor.probe.layout import HEADER, KINDS, RECORD_BYTES, ROLE_MAIN, TEXT, TEXT_BYTES, UNUSED
from loaderdoctor.record.chunks import pieces, torn_of
from loaderdoctor.record.meta import read_meta
from loaderdoctor.record.run import ProcessRecords, Run, Samples
from loaderdoctor.record.thin import thinning_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from loaderdoctor.record.chunks import Header, Rows
    from loaderdoctor.record.thin import Thinning, View

MOST_SAMPLES_BYTES = (
    32_000_000  # of one sampler's file, six times that in memory: an hour of 72 processes is read whole
)
_TEXT_AT = (RECORD_BYTES - TEXT_BYTES) // 8


def read(run_dir: Path) -> Run:
    """The run in `run_dir`.

    What a killed process left is read up to its last whole record.  LoaderDoctorError `not-a-run` or `run-too-new`.
    """
    meta = read_meta(run_dir)
    paths = sorted((run_dir / "records").glob("*.bin"))
    thinning = thinning_of(paths)
    files = {path.name: _read_records(path, thinning) for path in paths}
    processes = [process for of_file in files.values() for process in of_file]
    unreadable = [name for name, of_file in files.items() if not of_file]
    return Run(
        meta=replace(meta, notes=(*meta.notes, *map(_unreadable, unreadable))),
        processes=tuple(sorted(processes, key=lambda process: (process.header["opened_ns"], process.pid))),
        samples=MappingProxyType(
            {s.name: s for s in map(_read_samples, sorted((run_dir / "samples").glob("*.jsonl")))}
        ),
        directory=run_dir,
        sources=MappingProxyType(_read_sources(run_dir / "sources.json")),
        unwritten=_unwritten(run_dir),
    )


def _read_records(path: Path, thinning: Thinning | None) -> tuple[ProcessRecords, ...]:
    """None where the file cannot be read; a newer version writes all of a run, so the training process's file tells of it."""
    try:
        return read_processes(path, thinning)
    except OSError:
        return ()
    except LoaderDoctorError:
        if path.name.startswith("main-"):
            raise
        return ()


def _unwritten(run_dir: Path) -> tuple[int, int]:
    """What the page of the run says of processes that could have no record file."""
    page = control.Control.open(str(run_dir))
    return page.word(control.LOST_RECORDS), page.word(control.LOST_ERRNO)


def read_process(path: Path) -> ProcessRecords | None:
    """The records of the first process in a file; None where not even its header was written."""
    return next(iter(read_processes(path)), None)


def read_processes(path: Path, thinning: Thinning | None = None) -> tuple[ProcessRecords, ...]:
    """The records of each process in a file, in the order in which they came; LoaderDoctorError `run-too-new`.

    A file is a row of chunks, each with a header that says whose it is; one of an older version is one chunk.
    """
    headers: dict[tuple[int, int], Header] = {}
    rows: dict[tuple[int, int], list[Rows]] = {}
    for header, piece in pieces(path):
        key = (header["pid"], header["opened_ns"])
        view = thinning.view(header) if thinning else None
        headers.setdefault(key, header)
        rows.setdefault(key, []).append(view.of(piece) if view else piece)
    torn = torn_of(path)
    return tuple(
        _process(headers[key], of_process, torn, thinning.view(headers[key]) if thinning else None)
        for key, of_process in rows.items()
    )


def _process(header: Header, pieces_of_it: list[Rows], torn: int, view: View | None) -> ProcessRecords:
    passed = [view.passed] if view and header["role"] == ROLE_MAIN else []
    rows = np.concatenate([*pieces_of_it, *passed])
    known = np.isin(rows[:, 0], [*KINDS, UNUSED])
    return ProcessRecords(
        header=MappingProxyType(dict(header)),
        tables=MappingProxyType(_tables(rows)),
        texts=MappingProxyType(_texts(rows[rows[:, 0] == TEXT])),
        torn=torn + int((~known).sum()),
        seen=view.stretches if view else None,
    )


def _unreadable(name: str) -> dict[str, str]:
    return {"slug": "records-unreadable", "text": f"{name} cannot be read as a record file and was left out."}


def _tables(rows: Rows) -> dict[str, Mapping[str, Rows]]:
    tables: dict[str, Mapping[str, Rows]] = {}
    for kind in np.unique(rows[:, 0]).tolist():
        if kind in KINDS and kind not in {HEADER, TEXT}:
            name, names = KINDS[kind]
            of_kind = rows[rows[:, 0] == kind]
            tables[name] = MappingProxyType({field: of_kind[:, k].copy() for k, field in enumerate(names, 1)})
    return tables


def _texts(rows: Rows) -> dict[int, str]:
    """Texts by number; one whose last parts were not written any more is left out."""
    pieces: dict[int, dict[int, bytes]] = {}
    parts: dict[int, int] = {}
    for row in rows:
        number, part, of, length = (int(value) for value in row[1:_TEXT_AT])
        pieces.setdefault(number, {})[part] = row[_TEXT_AT:].tobytes()[:length]
        parts[number] = of
    return {
        number: b"".join(pieces[number][k] for k in range(of)).decode("utf-8", "replace")
        for number, of in parts.items()
        if len(pieces[number]) == of and max(pieces[number]) == of - 1 and min(pieces[number]) == 0
    }


def _read_samples(path: Path) -> Samples:
    """Its rows: of a file that is larger than is read, one in so many, and the last; what they count goes on between them."""
    rows: list[Mapping[str, Any]] = []
    try:
        every = 1 + path.stat().st_size // MOST_SAMPLES_BYTES
        with path.open(encoding="utf-8", errors="replace") as lines:
            left = ""
            for number, line in enumerate(lines):
                left = line if number % every else ""
                if not left:
                    rows += _row(line)
            rows += _row(left)
    except OSError:
        pass  # as if nobody had sampled, which is said wherever a sample is asked for
    return Samples(path.stem, tuple(rows))


def _row(line: str) -> list[Mapping[str, Any]]:
    """None of a line that is none: the last one of a killed parent."""
    try:
        row = json.loads(line)
    except ValueError:
        return []
    return [row] if isinstance(row, dict) and isinstance(row.get("at_ns"), int) else []


def _read_sources(path: Path) -> dict[str, str]:
    try:
        sources = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(text) for name, text in sources.items()} if isinstance(sources, dict) else {}
