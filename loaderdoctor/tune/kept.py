"""Where the runs of a ladder and its results lie."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.launch.directory import PRIVATE, RUNS
from loaderdoctor.report.advice import PATCH_FILE
from loaderdoctor.report.prescribe import patch_at
from loaderdoctor.tune import page, shown

if TYPE_CHECKING:
    from loaderdoctor.tune.climb import Climbed


def folder(output: str | None, name: str) -> Path:
    """An empty folder, absolute.  LoaderDoctorError `output-unusable` where DIR cannot be made or holds anything."""
    stem = f"{name}-tune-{datetime.now(timezone.utc):%Y%m%dT%H%M%SZ}"
    chosen = Path(RUNS) / stem if output is None else Path(output)
    try:
        chosen.mkdir(mode=PRIVATE, parents=True, exist_ok=output is not None)
        if any(chosen.iterdir()):
            raise LoaderDoctorError("output-unusable", f"{chosen} is not empty: name another folder.")
    except OSError as error:
        raise LoaderDoctorError("output-unusable", f"{chosen} cannot be made: {error.strerror}.") from None
    return chosen.absolute()


def write(climbed: Climbed, directory: Path) -> tuple[Path, ...]:
    """tune.html, tune.json, and fix.patch where the best settings can be edited in.  OSError where that cannot be."""
    patch = _patch(climbed)
    contents = {"tune.html": page.render(climbed, patch), "tune.json": shown.as_json(climbed, patch), PATCH_FILE: patch}
    written = []
    for name, text in contents.items():
        if text is not None:
            path = directory / name
            path.touch(mode=0o600)
            path.write_text(text, encoding="utf-8")
            written.append(path)
    return tuple(written)


def _patch(climbed: Climbed) -> str | None:
    site, settings = climbed.loader.site, climbed.best.settings
    return patch_at(climbed.run, site, settings) if site is not None and settings else None
