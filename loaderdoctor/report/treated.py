"""What was tried on a run, in words: the gain that was measured beside the one that was promised."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from loaderdoctor.report import figures
from loaderdoctor.report.prescribe import as_arguments
from loaderdoctor.report.privacy import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loaderdoctor.causes.base import Diagnosis
    from loaderdoctor.predict.measured import Outcome
    from loaderdoctor.report.words import Words


def listed(diagnosis: Diagnosis, words: Words, folder: str) -> tuple[tuple[str, str], ...]:
    """Everything that was tried, the latest first: what, and what came of it."""
    return tuple(
        (clean(what(one, words), folder), " ".join(sentences(one, words))) for one in reversed(diagnosis.treated)
    )


def what(outcome: Outcome, words: Words) -> str:
    """The settings and variables as one writes them; or that one batch was kept."""
    return words("treated.ceiling") if outcome.is_ceiling else as_words(outcome.settings, outcome.variables)


def as_words(settings: Mapping[str, Any], variables: Mapping[str, str]) -> str:
    """For example "num_workers=4, OMP_NUM_THREADS=1"."""
    of_environment = ", ".join(f"{name}={value}" for name, value in variables.items())
    return ", ".join(filter(None, [as_arguments(settings), of_environment]))


def sentences(outcome: Outcome, words: Words) -> Iterator[str]:
    """Measured, promised, what became of the waiting, and what makes the comparison doubtful."""
    runs, steps = words.count("run", outcome.runs), words.count("step", outcome.steps)
    yield words("treated.measured", runs=runs, steps=steps, **_numbers(outcome))
    if (promise := promise_of(outcome, words)) is not None:
        yield promise
    if outcome.starved_before is not None and outcome.starved_after is not None:
        before, after = figures.share(outcome.starved_before), figures.share(outcome.starved_after)
        yield words("treated.waiting", before=before, after=after)
    if outcome.repeats:
        yield words("treated.repeats")
    if outcome.is_ceiling:
        yield words("treated.trains-nothing")


def promise_of(outcome: Outcome, words: Words) -> str | None:
    """Say what was promised, and whether the measurement can be that; None where nothing was."""
    if outcome.promised is None:
        return None
    promised = {"best": figures.times(outcome.promised.best), "range": figures.times_range(outcome.promised)}
    return words(f"treated.{'ceiling-' if outcome.is_ceiling else ''}{outcome.verdict}", **promised)


def as_json(outcome: Outcome) -> dict[str, Any]:
    """What was tried, for report.json."""
    return asdict(outcome) | {"verdict": outcome.verdict}


def _numbers(outcome: Outcome) -> dict[str, str]:
    return {"best": figures.times(outcome.speedup.best), "range": figures.times_range(outcome.speedup)}
