"""What trials came to, beside what was promised; kept in the run that they are of, and read back for its reports."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from loaderdoctor.causes.base import FOUND, Gain
from loaderdoctor.predict.measured import Outcome
from loaderdoctor.treat.remedy import variables_of
from loaderdoctor.treat.settings import KINDS
from loaderdoctor.treat.trials import AS_WRITTEN, TREATED, share_of
from loaderdoctor.values import Interval

if TYPE_CHECKING:
    from pathlib import Path

    from loaderdoctor.causes.base import Diagnosis, Finding
    from loaderdoctor.treat.remedy import Remedy
    from loaderdoctor.treat.trials import Trials

FILE = "treated.json"
SCHEMA = "loaderdoctor.treated/1"
MOST_BYTES = 1 << 20  # an outcome is half a kilobyte; what is larger was not written by us
MOST_KEPT = 50  # outcomes of one run, the latest


def outcome_of(remedy: Remedy, trials: Trials) -> Outcome:
    """Of trials of both kinds."""
    treated = trials.of(TREATED)
    return Outcome(
        loader=remedy.loader.id,
        settings=dict(remedy.settings),
        variables=dict(remedy.variables),
        speedup=Interval.of(trials.speedup),
        runs=len(trials.trials),
        steps=round(sum(trial.pace.steps for trial in trials.trials) / len(trials.trials)),
        cause=remedy.cause,
        promised=remedy.promised,
        starved_before=share_of(trials.of(AS_WRITTEN)),
        starved_after=share_of(treated),
        repeats=any(trial.repeats for trial in treated),
        is_ceiling=remedy.is_ceiling,
    )


# --- kept in the run


def keep(run_dir: Path, outcome: Outcome) -> Path:
    """Write it into the run, in the place of an earlier one of the same remedy.  OSError where that cannot be."""
    others = [one for one in kept(run_dir) if _remedy(one) != _remedy(outcome)]
    rows = [asdict(one) for one in (*others, outcome)][-MOST_KEPT:]
    path, fresh = run_dir / FILE, run_dir / f"{FILE}.new"
    fresh.unlink(missing_ok=True)
    fresh.touch(mode=0o600)
    fresh.write_text(json.dumps({"schema": SCHEMA, "treated": rows}, indent=1), encoding="utf-8")
    fresh.replace(path)
    return path


def kept(run_dir: Path) -> tuple[Outcome, ...]:
    """The outcomes in a run, the latest last; none where there is no such file, and without those that say nothing sound."""
    path = run_dir / FILE
    try:
        if path.stat().st_size > MOST_BYTES:
            return ()
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return ()
    if not isinstance(raw, dict) or raw.get("schema") != SCHEMA or not isinstance(raw.get("treated"), list):
        return ()
    read = (_outcome(row) for row in raw["treated"][-MOST_KEPT:])
    return tuple(one for one in read if one is not None)


def _remedy(outcome: Outcome) -> tuple[Any, ...]:
    return outcome.loader, dict(outcome.settings), dict(outcome.variables), outcome.is_ceiling


def _outcome(row: Any) -> Outcome | None:
    """What a row says, if all of it is what it should be: a run may come from anybody."""
    try:
        speedup, promised = _interval(row["speedup"]), row.get("promised")
        settings, variables = row["settings"], row["variables"]
        if not all(name in KINDS and (value is None or KINDS[name].fits(value)) for name, value in settings.items()):
            return None
        return Outcome(
            loader=str(row["loader"]),
            settings=dict(settings),
            variables={str(name): str(value) for name, value in variables.items()},
            speedup=speedup,
            runs=int(row["runs"]),
            steps=int(row["steps"]),
            cause=None if row.get("cause") is None else str(row["cause"]),
            promised=None if promised is None else _interval(promised),
            starved_before=_share(row.get("starved_before")),
            starved_after=_share(row.get("starved_after")),
            repeats=bool(row.get("repeats")),
            is_ceiling=bool(row.get("is_ceiling")),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return None


def _interval(row: Any) -> Interval:
    low, best, high = (float(row[end]) for end in ("low", "best", "high"))
    if not (0 < low <= best <= high and isfinite(high)):
        message = "no interval of a speed-up"
        raise ValueError(message)
    return Interval(low, best, high)


def _share(value: Any) -> float | None:
    return None if value is None else min(1.0, max(0.0, float(value)))


# --- told with the diagnosis


def with_measured(diagnosis: Diagnosis, outcomes: tuple[Outcome, ...]) -> Diagnosis:
    """The diagnosis with what was measured in the place of what was promised, and the promise beside it."""
    if not outcomes:
        return diagnosis
    findings = tuple(_told(finding, outcomes) for finding in diagnosis.findings)
    return replace(diagnosis, findings=findings, treated=outcomes)


def _told(finding: Finding, outcomes: tuple[Outcome, ...]) -> Finding:
    if finding.status != FOUND or finding.prescription is None:
        return finding
    for outcome in reversed(outcomes):
        if outcome.cause == finding.cause and _is_of(finding, outcome):
            return replace(finding, gain=Gain(outcome.speedup, "measured"), promised=finding.gain, measured=outcome)
    return finding


def _is_of(finding: Finding, outcome: Outcome) -> bool:
    """Whether it is of what the finding prescribes, whole."""
    assert finding.prescription is not None  # noqa: S101 - `_told` has seen it
    settings = dict(finding.prescription.settings)
    is_same = settings == dict(outcome.settings) and variables_of(finding) == dict(outcome.variables)
    return is_same and finding.loader in {None, outcome.loader}
