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


def diagnose(run_dir: Path) -> Diagnosed:
    """Read, analyse and diagnose a run.  LoaderDoctorError where there is none to read."""
    run = record.read(run_dir)
    signals = analyse.signals_of(run)
    return Diagnosed(run, signals, with_measured(causes.diagnose(signals), kept(run_dir)))
