"""The ladder for people and for programs: a table and a verdict on the terminal, JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from math import inf
from typing import TYPE_CHECKING, Any

from loaderdoctor.compare.gain import speedup
from loaderdoctor.report import figures
from loaderdoctor.report.prescribe import as_arguments
from loaderdoctor.report.privacy import clean, code_path, shown_command
from loaderdoctor.report.visible import json_escaped, visible_line
from loaderdoctor.tune.ladder import curve
from loaderdoctor.tune.rung import NAMES
from loaderdoctor.values import Interval, Measured, Missing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loaderdoctor.tune.climb import Climbed
    from loaderdoctor.tune.rung import Rung, Seen
    from loaderdoctor.values import Value

# 1  first version
SCHEMA = "loaderdoctor.tune/1"
COLUMNS = ("", "settings", "samples/s", "step", "waiting", "device", "worker CPU", "memory", "promised")
NUMBERS = ("samples_per_s", "step_s", "starved_share", "device_share", "worker_cores", "memory_bytes")  # of Seen
MARK = "*"  # the best row, on a terminal of any encoding
CURVE_PAST = 2  # workers beyond the most that were run


def table(climbed: Climbed) -> list[tuple[str, ...]]:
    """A row for each rung that ran, in its order; the best one's name is marked."""
    return [
        (
            f"{NAMES[rung.name]}{f' {MARK}' if rung is climbed.best else ''}",
            as_arguments(rung.settings) or figures.ABSENT,
            *(_cells(rung.seen) if rung.seen else ("failed", *[figures.ABSENT] * 5)),
            figures.times(rung.promised.best) if rung.promised else figures.ABSENT,
        )
        for rung in climbed.rungs
        if rung.run_dir is not None
    ]


def _cells(seen: Seen) -> tuple[str, ...]:
    cores = seen.worker_cores
    return (
        figures.significant(seen.samples_per_s.value) if isinstance(seen.samples_per_s, Measured) else figures.ABSENT,
        figures.cell(seen.step_s),
        figures.cell(seen.starved_share),
        figures.cell(seen.device_share),
        f"{figures.significant(cores.value, 2)} cores" if isinstance(cores, Measured) else figures.ABSENT,
        figures.cell(seen.memory_bytes),
    )


def lines(climbed: Climbed) -> Iterator[str]:
    """The table in text, what was not run and why, and the verdict."""
    rows = [COLUMNS, *table(climbed)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    for row in rows:
        cells = [text.ljust(width) if at < 2 else text.rjust(width) for at, (text, width) in enumerate(zip(row, widths, strict=True))]  # fmt: skip  # noqa: PLR2004 - two columns of words
        yield visible_line("  ".join(cells).rstrip())
    for name, why in not_run(climbed):
        yield visible_line(f"{name}: {why}")
    yield visible_line(verdict(climbed))
    if said := leaner(climbed):
        yield visible_line(said)


def not_run(climbed: Climbed) -> Iterator[tuple[str, str]]:
    """Rungs that say nothing, and why; what no device told is one of them."""
    folder = climbed.run.meta.working_directory
    for rung in climbed.rungs:
        if rung.why:
            yield NAMES[rung.name], clean(rung.why, folder).rstrip(".")
    seen = climbed.rungs[0].seen
    if seen is not None and isinstance(seen.device_share, Missing):
        yield "device", seen.device_share.reason.rstrip(".")


def verdict(climbed: Climbed) -> str:
    """The best settings, and how sure it is that they are."""
    best, first = climbed.best, climbed.rungs[0]
    where = place(climbed)
    if best is first or best.seen is None or first.seen is None:
        return f"best: as it is written; none of {climbed.runs} runs was faster, at {where}."
    gained = speedup(first.seen.times, best.seen.times).interval
    sure = "" if gained.low > 1 else ", which cannot be told from the noise of two runs"
    said = f"{figures.times(gained.best)} as fast as it is written ({figures.times_range(gained)}){sure}"
    return f"best: {as_arguments(best.settings)} at {where}: {said}, in {climbed.runs} runs."


def leaner(climbed: Climbed) -> str:
    """The measured settings with the least memory that one run each cannot tell from the best; empty where it is the best."""
    best = climbed.best
    rivals = [rung for rung in climbed.rungs if rung.seen and best.seen and _bytes(rung.seen) < _bytes(best.seen)]
    for rung in sorted(rivals, key=lambda one: _bytes(one.seen) if one.seen else 0.0):
        if rung.seen and best.seen and speedup(rung.seen.times, best.seen.times).interval.low <= 1:
            saved = f"{figures.cell(rung.seen.memory_bytes)} instead of {figures.cell(best.seen.memory_bytes)}"
            what = as_arguments(rung.settings) or "the script as written"
            return f"leaner: {what} takes {saved}, and one run each cannot tell it from the best."
    return ""


def _bytes(seen: Seen) -> float:
    return seen.memory_bytes.value if isinstance(seen.memory_bytes, Measured) else inf


def place(climbed: Climbed) -> str:
    """Where the loader is built."""
    site = climbed.loader.site
    if site is None:
        return climbed.loader.id
    return f"{code_path(site.file, climbed.run.meta.working_directory)}:{site.line}"


def points(climbed: Climbed) -> list[tuple[int, float]]:
    """Workers and samples (or steps) a second of each rung that was measured."""
    return [(rung.seen.workers, rate(rung.seen)) for rung in climbed.rungs if rung.seen is not None]


def rate(seen: Seen) -> float:
    """Samples a second; steps where the size of a batch is not known."""
    return seen.samples_per_s.value if isinstance(seen.samples_per_s, Measured) else 1 / seen.step_of_training_s


def model_curve(climbed: Climbed) -> list[tuple[int, float, float, float]]:
    """What the model said beforehand: workers, and the rate as low, best and high; empty where there is no model."""
    first = climbed.rungs[0].seen
    if climbed.forecast is None or first is None:
        return []
    to = max(workers for workers, _ in points(climbed)) + CURVE_PAST
    now = rate(first)
    return [(count, low * now, best * now, high * now) for count, low, best, high in curve(climbed.forecast, to)]


def as_json(climbed: Climbed, patch: str | None) -> str:
    """Shares 0..1, seconds, bytes; null where something is not known, with its reason."""
    folder = climbed.run.meta.working_directory
    best, first = climbed.best, climbed.rungs[0]
    gained = speedup(first.seen.times, best.seen.times).interval if first.seen and best.seen else None
    told = {
        "schema": SCHEMA,
        "command": shown_command(climbed.run.meta.command, folder),
        "loader": {"id": climbed.loader.id, "site": place(climbed)},
        "runs": climbed.runs,
        "interrupted": climbed.interrupted,
        "best": {
            "settings": dict(best.settings),
            "speedup": None if gained is None else asdict(gained),
            "patch": patch,
        },
        "sentence": verdict(climbed),
        "leaner": leaner(climbed) or None,
        "rungs": [_rung(climbed, rung, folder) for rung in climbed.rungs],
        "curve": [
            {"num_workers": count, "rate": {"low": low, "best": best_, "high": high}}
            for count, low, best_, high in model_curve(climbed)
        ],
    }
    return json_escaped(json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def _rung(climbed: Climbed, rung: Rung, folder: str) -> dict[str, Any]:
    seen = rung.seen
    return {
        "name": rung.name,
        "settings": dict(rung.settings),
        "is_best": rung is climbed.best,
        "run": None if rung.run_dir is None else rung.run_dir.name,
        "why": clean(rung.why, folder) or None,
        "promised": None if rung.promised is None else asdict(rung.promised),
        "num_workers": None if seen is None else seen.workers,
        **{name: None if seen is None else _value(getattr(seen, name)) for name in NUMBERS},
    }


def _value(value: Value) -> dict[str, Any]:
    if isinstance(value, Missing):
        return {"low": None, "best": None, "high": None, "missing": value.reason}
    return asdict(Interval.of(value))
