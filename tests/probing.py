"""Runs scripts with and without the probe, and reads what it wrote."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import loaderdoctor
from loaderdoctor.probe import control
from loaderdoctor.probe.layout import HEADER, KINDS, RECORD, RECORD_BYTES, TEXT, TEXT_RECORD, UNUSED

BOOTSTRAP = Path(loaderdoctor.__file__).parent / "launch" / "bootstrap"


@dataclass
class Recorded:
    """The record file of one process: (kind, {field: value}) in order, texts put in."""

    role: str
    rows: list
    torn_bytes: int

    def of(self, kind):
        return [fields for name, fields in self.rows if name == kind]

    def kinds(self):
        return {name for name, _ in self.rows}


def run(script, run_dir=None, *arguments, check=True, **environment):
    """The finished process of a script, text kept; with the probe where there is a run directory."""
    variables = dict(os.environ, PYTHONWARNINGS="default", **environment)
    if run_dir is not None:
        (run_dir / "records").mkdir(parents=True, exist_ok=True)
        control.create(str(run_dir))
        variables |= {"LOADERDOCTOR_RUN": str(run_dir), "PYTHONPATH": str(BOOTSTRAP)}
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, env=variables, check=check, capture_output=True, text=True, timeout=300)


def read(run_dir):
    """What each process recorded, the main one first."""
    return [process for path in sorted((run_dir / "records").glob("*.bin")) for process in _read_file(path)]


def main_of(run_dir):
    (main,) = (process for process in read(run_dir) if process.role == "main")
    return main


def workers_of(run_dir):
    return [process for process in read(run_dir) if process.role == "worker"]


def _read_file(path):
    """The processes of a file, by the headers of its chunks."""
    data, chunks = path.read_bytes(), {}
    chunk = []
    for start in range(0, len(data) - RECORD_BYTES + 1, RECORD_BYTES):
        kind, *values = RECORD.unpack_from(data, start)
        if kind == HEADER:
            header = dict(zip(KINDS[HEADER][1], values, strict=False))
            chunk = chunks.setdefault((header["role"], header["pid"], header["opened_ns"]), [])
            chunk += [] if chunk else [(kind, values, start)]
        elif kind != UNUSED:
            chunk.append((kind, values, start))
    return [
        Recorded(("main", "worker")[role], _rows(chunk, data), len(data) % RECORD_BYTES)
        for (role, _, _), chunk in chunks.items()
    ]


def _rows(chunk, data):
    texts, rows = {}, []
    for kind, values, start in chunk:
        if kind == TEXT:
            _, number, _, _, length, piece = TEXT_RECORD.unpack_from(data, start)
            texts[number] = texts.get(number, b"") + piece[:length]
        else:
            rows.append((*KINDS[kind], values))
    # Texts are told apart at the end: one thread may refer to a text that another one is about to write.
    return [
        (name, {f: texts[v].decode() if f.endswith("_text") else v for f, v in zip(fields, values, strict=False)})
        for name, fields, values in rows
    ]
