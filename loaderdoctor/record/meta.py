"""`run.json`: what the parent knows of a run, written at its start and again at its end."""

from __future__ import annotations

import json
from dataclasses import MISSING, asdict, fields
from typing import TYPE_CHECKING, Any

from loaderdoctor.errors import ExitCode, LoaderDoctorError
from loaderdoctor.record.run import RunMeta

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

META_FILE = "run.json"
SCHEMA = "loaderdoctor.run/1"
MOST_BYTES = 64 << 20  # a run writes kilobytes; reading a gigabyte of another hand's would take ten of memory
_WORDS = "words"
KINDS = {  # of the fields of RunMeta, as JSON has them; rows are tuples by then
    "id": str,
    "tool_version": str,
    "command": _WORDS,
    "working_directory": str,
    "started_utc": str,
    "started_ns": int,
    "ended_ns": int | None,
    "exit_code": int | None,
    "ended_by": str,
    "options": dict,
    "environment": dict,
    "notes": tuple,
    "host": str,
}


def write_meta(run_dir: Path, meta: RunMeta) -> None:
    """Write or replace run.json; never leaves half of one."""
    fresh = run_dir / f"{META_FILE}.new"
    fresh.touch(mode=0o600)  # a command line may hold what is nobody else's to read
    fresh.write_text(json.dumps({"schema": SCHEMA} | asdict(meta), indent=1, default=str), encoding="utf-8")
    fresh.replace(run_dir / META_FILE)


def read_meta(run_dir: Path) -> RunMeta:
    """The run.json of a run directory.  LoaderDoctorError `not-a-run` or `run-too-new` where there is none to read."""
    path = run_dir / META_FILE
    try:
        if path.stat().st_size > MOST_BYTES:
            sentence = f"{path} is larger than {MOST_BYTES >> 20} MiB: no run of loaderdoctor wrote it."
            raise LoaderDoctorError("not-a-run", sentence, ExitCode.NO_REPORT)
        raw = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        sentence = f"{run_dir} is not a run directory: it has no {META_FILE}."
        raise LoaderDoctorError("not-a-run", sentence) from None
    except (OSError, ValueError, RecursionError) as error:
        sentence = f"{path} cannot be read: {error}."
        raise LoaderDoctorError("not-a-run", sentence, ExitCode.NO_REPORT) from None
    if not isinstance(raw, dict):
        sentence = f"{path} is not the {META_FILE} of a run."
        raise LoaderDoctorError("not-a-run", sentence)
    if raw.get("schema") != SCHEMA:
        sentence = f"{path} has schema {raw.get('schema')!r}; this loaderdoctor reads {SCHEMA!r}. Update loaderdoctor."
        raise LoaderDoctorError("run-too-new", sentence, ExitCode.NO_REPORT)
    known = {field.name: field.default is MISSING and field.default_factory is MISSING for field in fields(RunMeta)}
    values = {key: value for key, value in raw.items() if key in known}
    if lacking := [name for name, needed in known.items() if needed and name not in values]:
        sentence = f"{path} is not the {META_FILE} of a run: it lacks {', '.join(lacking)}."
        raise LoaderDoctorError("not-a-run", sentence)
    for name in ("command", "notes"):
        values[name] = _row(values.get(name, []))
    if wrong := [name for name, kind in KINDS.items() if name in values and not _is_kind(values[name], kind)]:
        sentence = f"{path} is not the {META_FILE} of a run: it says {values[wrong[0]]!r} for {wrong[0]}."
        raise LoaderDoctorError("not-a-run", sentence, ExitCode.NO_REPORT)
    values["notes"] = tuple(map(_note, values["notes"]))
    return RunMeta(**values)


def _row(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _is_kind(value: object, kind: Any) -> bool:
    if kind == _WORDS:
        return isinstance(value, tuple) and all(isinstance(word, str) for word in value)
    return isinstance(value, kind) and not isinstance(value, bool)


def _note(note: Any) -> Mapping[str, str]:
    if isinstance(note, dict) and all(isinstance(note.get(name), str) for name in ("slug", "text")):
        return note
    return {"slug": "note-unreadable", "text": f"A note in {META_FILE} is none: {note!r}."}
