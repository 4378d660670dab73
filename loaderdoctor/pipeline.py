"""The stages in a row: a run directory in, a diagnosis out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from loaderdoctor import analyse, causes, record
from loaderdoctor.treat.outcome import kept, with_measured

if TYPE_CHECKING:
    from pathlib import Path

    from loaderdoctor.analyse.signals import Signals
    from loaderdoctor.causes.base import Diagnosis
    from loaderdoctor.record import Run


@dataclass(frozen=True)
class Diagnosed:
    """A run and what is to be said about it."""

    run: Run
    signals: Signals
    diagnosis: Diagnosis


def diagnose(*run_dirs: Path, names_hosts: bool = False) -> Diagnosed:
    """Read, analyse and diagnose a run, or the parts of one.  LoaderDoctorError where there is none to read."""
    run = record.read_job(run_dirs, names_hosts=names_hosts)
    signals = analyse.signals_of(run)
    diagnosis = causes.diagnose(signals)
    # What was measured is of the whole job, which only a single folder can hold.
    return Diagnosed(run, signals, with_measured(diagnosis, kept(run_dirs[0])) if len(run_dirs) == 1 else diagnosis)
