"""Where a run is kept."""

from __future__ import annotations

import platform
import re
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.probe import control

if TYPE_CHECKING:
    from datetime import datetime

RUNS = "loaderdoctor-runs"
PRIVATE = 0o700  # command lines and sources are nobody else's to read
MOST_OF_ONE_SECOND = 1000  # runs of one script started in the same second


def make(output: str | None, name: str, started: datetime, *, is_part: bool = False) -> tuple[Path, str | None]:
    """The run directory, made, with `records` and `samples` in it; and a sentence where it is not where one would look.

    Each part of a job gets a folder of its own below DIR, by the name of its host: other hosts write theirs beside it.
    LoaderDoctorError `output-unusable` where DIR was asked for and cannot be made or already holds a run.
    """
    if output is not None:
        return _asked_for(Path(output), is_part=is_part), None
    stem = f"{name}-{started:%Y%m%dT%H%M%SZ}"
    try:
        return _fresh(Path(RUNS), stem), None
    except OSError as error:
        path = _elsewhere(stem)
        return path, f"The working directory cannot be written ({error.strerror}); the run is kept in {path}."


def unmake(path: Path) -> None:
    """Take back a run directory in which nothing ran; what else lies in the folder stays."""
    for name in ("run.json", control.NAME):
        (path / name).unlink(missing_ok=True)
    made = [path / "records", path / "samples", path]
    if path.parent.name == RUNS:
        made.append(path.parent)
    for folder in made:
        with suppress(OSError):  # not empty: somebody else's
            folder.rmdir()


def _asked_for(path: Path, *, is_part: bool) -> Path:
    if (path / "run.json").exists():
        raise LoaderDoctorError("output-unusable", f"{path} holds a run already: name another folder, or remove it.")
    try:
        if is_part:
            return _fresh(path, _host() or "part")
        _fill(path)
    except OSError as error:
        raise LoaderDoctorError("output-unusable", f"The run cannot be kept in {path}: {error.strerror}.") from None
    return path.absolute()


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", platform.node()).strip("-.")


def _elsewhere(stem: str) -> Path:
    try:
        path = Path(tempfile.mkdtemp(prefix=f"loaderdoctor-{stem}-"))
        _fill(path)
    except OSError as error:
        sentence = f"Neither the working directory nor the system's temporary one can be written ({error.strerror})."
        raise LoaderDoctorError("output-unusable", sentence) from None
    return path


def _fresh(parent: Path, stem: str) -> Path:
    parent.mkdir(parents=True, exist_ok=True)
    for number in range(MOST_OF_ONE_SECOND):
        path = parent / (stem if number == 0 else f"{stem}-{number + 1}")
        try:
            path.mkdir(mode=PRIVATE)
        except FileExistsError:
            continue
        _fill(path)
        return path.absolute()
    raise LoaderDoctorError("output-unusable", f"{parent} holds too many runs of this second.")


def _fill(path: Path) -> None:
    path.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
    for part in ("records", "samples"):
        (path / part).mkdir(mode=PRIVATE, exist_ok=True)
    control.create(str(path))
