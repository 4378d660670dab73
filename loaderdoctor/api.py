"""The package from Python: record a block, read a run, diagnose it."""

from __future__ import annotations

import os
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from loaderdoctor import analyse, causes, pipeline, record, report
from loaderdoctor.launch.here import Recording, recorder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from loaderdoctor.causes.base import Diagnosis
    from loaderdoctor.record import Run

FORMATS = ("html", "pdf", "json")


@dataclass
class Profile:
    """What `profile` gives: where the run is kept, and after the block what came of it.

    `diagnosis` stays None, and `files` empty, where `loaderdoctor profile` records the whole process anyway, and where no
    report could be made.
    """

    directory: Path
    diagnosis: Diagnosis | None = None
    files: tuple[Path, ...] = ()


@contextmanager
def profile(
    output: str | os.PathLike[str] | None = None, *, formats: Sequence[str] = FORMATS, lang: str = "en"
) -> Iterator[Profile]:
    """Record the training inside the block, and report on it at its end, into the directory `output`.

    By default that is a new one, loaderdoctor-runs/<script or notebook>-<UTC time>.  An exception in the block passes
    through after the report.  LoaderDoctorError `output-unusable` before the block starts; afterwards nothing of ours is
    raised, only warned of.
    """
    outer = recorder()
    if outer is not None:
        yield Profile(outer)
        return
    recording = Recording(None if output is None else os.fspath(output))
    made = Profile(recording.run_dir)
    try:
        with recording.running():
            yield made
    finally:
        if recording.fault is not None:
            _warn(recording.fault.sentence)
        _report(made, formats, lang)


def _report(made: Profile, formats: Sequence[str], lang: str) -> None:
    try:
        done = pipeline.diagnose(made.directory)
        made.files = report.write(done.run, done.signals, done.diagnosis, made.directory, formats, lang).files
        made.diagnosis = done.diagnosis
    except Exception as error:  # noqa: BLE001 - the training is worth more than its report
        _warn(f"there is no report on {made.directory}: {error}")


def _warn(sentence: str) -> None:
    warnings.warn(f"loaderdoctor: {sentence}", RuntimeWarning, stacklevel=2)


def load(run_dir: str | os.PathLike[str]) -> Run:
    """The run recorded in a directory, or in parts right below it.  LoaderDoctorError `not-a-run` or `run-too-new`."""
    return record.read_job([Path(run_dir)])


def diagnose(run: Run) -> Diagnosis:
    """Whether the run starves for data, why, and what to change."""
    return causes.diagnose(analyse.signals_of(run))
