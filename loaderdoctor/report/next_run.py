"""What to type next: the command that was typed, with as many steps as would do."""

from __future__ import annotations

import math
import re
import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING

from loaderdoctor.causes.decide import TOO_WIDE
from loaderdoctor.causes.gates import STARVES
from loaderdoctor.report.privacy import shown_command
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import Signals
    from loaderdoctor.causes.base import Diagnosis
    from loaderdoctor.record.run import Run
    from loaderdoctor.report.words import Words

ENOUGH_STEPS = 100  # most verdicts stand on fewer; a job of a minute has as many
MOST_TIMES = 50  # an interval that needs more than so many times the steps is wide for another reason
LONG_RUN = 1000  # steady steps, of which a tenth is enough for a verdict
TENTH = 10
AS_NEAR = 0.02, 0.1  # of the time, or of the share itself: as near as two runs of a script come to each other
_PYTHON = re.compile(r"python[0-9.]*(\.exe)?")


def words_after_profile(run: Run) -> str:
    """The command as it is written behind `loaderdoctor profile`."""
    command = shown_command(run.meta.command, run.meta.working_directory)
    if command and _PYTHON.fullmatch(PurePath(command[0]).name) and len(command) > 1:
        return shlex.join(command[1:])
    return shlex.join(["--", *command])


def command_again(run: Run, signals: Signals, diagnosis: Diagnosis) -> str:
    """The run once more; with --steps, where another number of them than was recorded would do."""
    steps = steps_that_would_do(signals, diagnosis)
    option = f"--steps {steps} " if steps is not None else ""
    return f"loaderdoctor profile {option}{words_after_profile(run)}"


def steps_that_would_do(signals: Signals, diagnosis: Diagnosis) -> int | None:
    """More than were recorded, where those were too few; fewer, where they would have done; else None."""
    if diagnosis.status == "not-enough-data":
        return ENOUGH_STEPS if signals.loaders else None
    if diagnosis.status == "unknown":
        return _narrow_enough(signals)
    return first_tenth(signals)


def _narrow_enough(signals: Signals) -> int | None:
    """Intervals shrink with the root of the steps: as many as bring the nearer end to the right side."""
    share, steps = signals.starved_share, signals.steps.after_warm_up
    if not isinstance(share, Measured) or not steps or not math.isfinite(share.high - share.low):
        return ENOUGH_STEPS if signals.loaders and steps < ENOUGH_STEPS else None
    starving = share.value >= STARVES.value
    width = share.value - share.low if starving else share.high - share.value
    room = share.value - STARVES.value / TOO_WIDE if starving else STARVES.value * TOO_WIDE - share.value
    times = (width / room) ** 2 if room > 0 else math.inf
    if not 1 < times <= MOST_TIMES:
        return None
    return max(ENOUGH_STEPS, math.ceil(times * steps / ENOUGH_STEPS) * ENOUGH_STEPS)


def first_tenth(signals: Signals) -> int | None:
    """The first tenth of a long run's steady steps, where their share of waiting is that of all of them."""
    known = [step for step in signals.steps.series if all(map(math.isfinite, step)) and sum(step) > 0]
    if len(known) < LONG_RUN:
        return None
    tenth = len(known) // TENTH
    early, whole = _share_of_waiting(known[:tenth]), _share_of_waiting(known)
    near = abs(early - whole) <= max(AS_NEAR[0], AS_NEAR[1] * whole) and (early >= STARVES.value) == (
        whole >= STARVES.value
    )
    return tenth if near else None


def _share_of_waiting(steps: list[tuple[float, float, float]]) -> float:
    return sum(wait + copy for wait, copy, _ in steps) / sum(map(sum, steps))


def how_it_ended(run: Run, signals: Signals, words: Words) -> str:
    """A sentence where the script did not end by itself."""
    ended_by, options = run.meta.ended_by, run.meta.options
    if ended_by == "script":
        return ""
    values = {"steps": words.count("step", signals.steps.after_warm_up), "status": run.meta.exit_code}
    if ended_by in {"steps", "seconds"}:
        return words(f"ended.{ended_by}", asked=options.get(ended_by), **values)
    return words(f"ended.{ended_by}", **values) if ended_by in {"crash", "signal", "interrupt", "running"} else ""
