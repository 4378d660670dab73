"""Reads a run directory back: run.json, the record file of each process, the samples, the sources."""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from loaderdoctor.errors import ExitCode, LoaderDoctorError
from loaderdoctor.probe.layout import HEADER, KINDS, MAGIC, RECORD_BYTES, SCHEMA, TEXT, TEXT_BYTES
from loaderdoctor.record.meta import read_meta
from loaderdoctor.record.run import ProcessRecords, Run, Samples

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy.typing as npt

    Rows = npt.NDArray[np.int64]

_WORDS = RECORD_BYTES // 8
_TEXT_AT = (RECORD_BYTES - TEXT_BYTES) // 8


def read(run_dir: Path) -> Run:
    """The run in `run_dir`.

    What a killed process left is read up to its last whole record.  LoaderDoctorError `not-a-run` or `run-too-new`.
    """
    meta = read_meta(run_dir)
    files = {file.name: read_process(file) for file in sorted((run_dir / "records").glob("*.bin"))}
    processes = [process for process in files.values() if process is not None]
    unreadable = [name for name, process in files.items() if process is None]
    return Run(
        meta=replace(meta, notes=(*meta.notes, *map(_unreadable, unreadable))),
        processes=tuple(sorted(processes, key=lambda process: (process.header["opened_ns"], process.pid))),
        samples=MappingProxyType(
            {s.name: s for s in map(_read_samples, sorted((run_dir / "samples").glob("*.jsonl")))}
        ),
        directory=run_dir,
        sources=MappingProxyType(_read_sources(run_dir / "sources.json")),
    )


def read_process(path: Path) -> ProcessRecords | None:
    """The records in one file; None where not even its header was written.  LoaderDoctorError `run-too-new`."""
    raw = path.read_bytes()
    whole = len(raw) // RECORD_BYTES
    if whole == 0:
        return None
    rows = np.frombuffer(raw[: whole * RECORD_BYTES], dtype="<i8").reshape(whole, _WORDS)
    header = _fields(HEADER, rows[0])
    if rows[0, 0] != HEADER or header["magic"] != MAGIC or header["record_bytes"] != RECORD_BYTES:
        return None
    if header["schema"] > SCHEMA:
        sentence = f"{path.name} has record schema {header['schema']}; this loaderdoctor reads {SCHEMA}. Update it."
        raise LoaderDoctorError("run-too-new", sentence, ExitCode.NO_REPORT)
    known = np.isin(rows[:, 0], list(KINDS))
    return ProcessRecords(
        header=MappingProxyType(header),
        tables=MappingProxyType(_tables(rows)),
        texts=MappingProxyType(_texts(rows[rows[:, 0] == TEXT])),
        torn=int(len(raw) % RECORD_BYTES > 0) + int((~known).sum()),
    )


def _unreadable(name: str) -> dict[str, str]:
    return {"slug": "records-unreadable", "text": f"{name} has no header of a record file and was left out."}


def _fields(kind: int, row: Rows) -> dict[str, int]:
    return {name: int(value) for name, value in zip(KINDS[kind][1], row[1:], strict=False)}


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
        if len(pieces[number]) == of
    }


def _read_samples(path: Path) -> Samples:
    rows: list[Mapping[str, Any]] = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue  # the last line of a killed parent
    return Samples(path.stem, tuple(row for row in rows if isinstance(row, dict) and "at_ns" in row))


def _read_sources(path: Path) -> dict[str, str]:
    try:
        sources = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(text) for name, text in sources.items()} if isinstance(sources, dict) else {}
