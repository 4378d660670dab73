"""How a recorded run is run again: its command, where it ran, and for how many steps."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from loaderdoctor import launch
from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.privacy import MASK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loaderdoctor.analyse.signals import Signals
    from loaderdoctor.record import RunMeta

# A trial of a long run: several times as long as starts, warm-up and the slowest bursts of a page cache take.  Runs differ from
# each other by more than longer ones would bring.
LONG_S = 60.0
FEWEST_STEPS = 50  # of a trial, where steps are so long that LONG_S has fewer: in fewer, one slow step shows
NS = 1_000_000_000


@dataclass(frozen=True)
class Again:
    """A command to run again, in `folder`; `steps` where it is not to run to its own end, `expected_s` a run about."""

    command: launch.Command
    folder: str
    steps: int | None
    expected_s: float


def again(meta: RunMeta, signals: Signals, words: Sequence[str] = (), steps: int | None = None) -> Again:
    """The run of this record again; `words` are its command, and `steps` its length, where somebody says so.

    LoaderDoctorError `run-not-repeatable` where the record does not say what was run, or where that cannot be.
    """
    argv = tuple(words) or meta.command
    if not argv:
        raise _not_repeatable("It does not say what command was run: give that after `--`.")
    if any(MASK in word for word in argv):
        raise _not_repeatable("Its command had secrets, which are kept nowhere: give it again after `--`.")
    if any("ipykernel" in word for word in argv):
        raise _not_repeatable("It was recorded in a notebook, which nobody can start again.")
    if not meta.working_directory or not Path(meta.working_directory).is_dir():
        sentence = f"The folder that it ran in, {meta.working_directory or 'which was deleted'}, is not here."
        raise _not_repeatable(sentence)
    steps = steps or _steps(meta, signals)
    return Again(launch.Command(argv, "trial"), meta.working_directory, steps, _expected_s(meta, signals, steps))


def _steps(meta: RunMeta, signals: Signals) -> int | None:
    """Where the run was short, as many as it had; None where it came to its own end then."""
    had = signals.training_steps
    if had == 0:
        raise _not_repeatable("No step of it ended after warm-up: there is nothing to compare with.")
    if _length_s(meta, signals) <= LONG_S:
        return None if meta.ended_by == "script" else had
    step_s = signals.measured_s / had
    wanted = max(FEWEST_STEPS, ceil(LONG_S / step_s))
    return min(had, _whole_epochs(signals, wanted))


def _whole_epochs(signals: Signals, steps: int) -> int:
    """Up to the end of an epoch, where epochs are no longer than a trial: what lies between them is a part of the time."""
    main = signals.main
    if main is None or main.epochs < 1:
        return steps
    epoch = ceil(main.batches / main.epochs)
    return ceil(steps / epoch) * epoch if 0 < epoch <= steps else steps


def _expected_s(meta: RunMeta, signals: Signals, steps: int | None) -> float:
    if steps is None or signals.training_steps == 0:
        return _length_s(meta, signals)
    before_s = max(0.0, _length_s(meta, signals) - signals.measured_s)
    return before_s + steps * signals.measured_s / signals.training_steps


def _length_s(meta: RunMeta, signals: Signals) -> float:
    return signals.measured_s if meta.ended_ns is None else (meta.ended_ns - meta.started_ns) / NS


def _not_repeatable(sentence: str) -> LoaderDoctorError:
    return LoaderDoctorError("run-not-repeatable", f"This run cannot be run again. {sentence}")
