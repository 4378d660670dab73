"""`run.json`: what the parent knows of a run, written at its start and again at its end."""

from __future__ import annotations

import json
from dataclasses import MISSING, asdict, fields
from typing import TYPE_CHECKING

from loaderdoctor.errors import ExitCode, LoaderDoctorError
from loaderdoctor.record.run import RunMeta

if TYPE_CHECKING:
    from pathlib import Path

META_FILE = "run.json"
SCHEMA = "loaderdoctor.run/1"
MOST_BYTES = 64 << 20  # a run writes kilobytes; reading a gigabyte of another hand's would take ten of memory


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
    values["command"] = tuple(values["command"])
    values["notes"] = tuple(values.get("notes", ()))
    return RunMeta(**values)
