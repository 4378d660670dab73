"""The ladder for people and for programs: a table and a verdict on the terminal, JSON."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from math import inf
from typing import TYPE_CHECKING, Any

from loaderdoctor.causes.gates import STARVES
from loaderdoctor.compare.gain import speedup
from loaderdoctor.compare.ground import LOADED
from loaderdoctor.predict.speedup import NOISE
from loaderdoctor.report import figures
from loaderdoctor.report.prescribe import as_arguments
from loaderdoctor.report.privacy import clean, code_path, shown_command
from loaderdoctor.report.terminal import as_typed
from loaderdoctor.report.visible import json_escaped
from loaderdoctor.tune.ladder import curve
from loaderdoctor.tune.rung import NAMES
from loaderdoctor.tune.seen import NO_DEVICE
from loaderdoctor.values import Interval, Measured, Missing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from loaderdoctor.tune.climb import Climbed
    from loaderdoctor.tune.rung import Rung, Seen
    from loaderdoctor.values import Value

# 1  first version
SCHEMA = "loaderdoctor.tune/1"
NUMBERS = (
    "samples_per_s",
    "step_s",
    "starved_share",
    "device_share",
    "worker_cores",
    "memory_bytes",
    "others_share",
)  # of Seen
WORDS = 2  # columns of words; those behind have numbers
MARK = "*"  # the best row, on a terminal of any encoding
WORTH_SAVING = 0.1  # of the memory of the best: for less nobody takes other settings
CURVE_PAST = 2  # workers beyond the most that were run


def table(climbed: Climbed) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The columns' names, and a row for each rung that ran, in its order; the best one's name is marked.

    A column that no run has a number for is left out.
    """
    ran = [rung for rung in climbed.rungs if rung.run_dir is not None]
    columns = {name: [cell(rung) for rung in ran] for name, cell in _COLUMNS.items()}
    told = {name: cells for name, cells in columns.items() if set(cells) != {figures.ABSENT}}
    names = [f"{NAMES[rung.name]}{f' {MARK}' if rung is climbed.best else ''}" for rung in ran]
    return ("", *told), list(zip(names, *told.values(), strict=True))


def _settings(rung: Rung) -> str:
    return as_arguments(rung.settings) or figures.ABSENT


def _rate_cell(rung: Rung) -> str:
    if rung.seen is None:
        return "failed"
    rate = rung.seen.samples_per_s
    return figures.significant(rate.value) if isinstance(rate, Measured) else figures.ABSENT


def _cores_cell(rung: Rung) -> str:
    cores = rung.seen.worker_cores if rung.seen else None
    return f"{figures.significant(cores.value, 2)} cores" if isinstance(cores, Measured) else figures.ABSENT


def _number_cell(name: str) -> Callable[[Rung], str]:
    return lambda rung: figures.cell(getattr(rung.seen, name)) if rung.seen else figures.ABSENT


def _promised_cell(rung: Rung) -> str:
    return figures.times(rung.promised.best) if rung.promised else figures.ABSENT


_COLUMNS: Mapping[str, Callable[[Rung], str]] = {
    "settings": _settings,
    "samples/s": _rate_cell,
    "step": _number_cell("step_s"),
    "waiting": _number_cell("starved_share"),
    "device": _number_cell("device_share"),
    "worker CPU": _cores_cell,
    "memory": _number_cell("memory_bytes"),
    "promised": _promised_cell,
}


def lines(climbed: Climbed) -> Iterator[str]:
    """The table in text, what was not run and why, and the verdict."""
    columns, cells = table(climbed)
    rows = [columns, *cells]
    widths = [max(len(row[column]) for row in rows) for column in range(len(columns))]
    for row in rows:
        padded = [text.ljust(width) if at < WORDS else text.rjust(width) for at, (text, width) in enumerate(zip(row, widths, strict=True))]  # fmt: skip
        yield "  ".join(padded).rstrip()
    for name, why in not_run(climbed):
        yield f"{name}: {why}"
    yield verdict(climbed)
    yield from beside(climbed, as_typed)


def not_run(climbed: Climbed) -> Iterator[tuple[str, str]]:
    """Rungs that say nothing, and why; what no device told is one of them."""
    folder = climbed.run.meta.working_directory
    for rung in climbed.rungs:
        if rung.why:
            yield NAMES[rung.name], clean(rung.why, folder).rstrip(".")
    seen = climbed.rungs[0].seen
    if seen is not None and isinstance(seen.device_share, Missing) and seen.device_share != NO_DEVICE:
        yield "device", seen.device_share.reason.rstrip(".")


def verdict(climbed: Climbed) -> str:
    """The best settings, and how sure it is that they are."""
    best, first = climbed.best, climbed.rungs[0]
    where = place(climbed)
    if best is first or best.seen is None or first.seen is None:
        return f"best: as it is written, at {where}; {_others(climbed)}."
    gained = speedup(first.seen.times, best.seen.times).interval
    sure = "" if gained.low > 1 else ", which cannot be told from the noise of two runs"
    said = f"{figures.times(gained.best)} as fast as it is written ({figures.times_range(gained)}){sure}"
    return f"best: {as_arguments(best.settings)} at {where}: {said}, in {climbed.runs} runs."


def _others(climbed: Climbed) -> str:
    count = len(points(climbed)) - 1
    if count == 0:
        return "no other settings were measured"
    if count == 1:
        return "the one run with other settings was not clearly faster"
    return f"of {count} runs with other settings none was clearly faster"


def beside(climbed: Climbed, name: Callable[[Path], str]) -> Iterator[str]:
    """What must be said beside the verdict; `name` says how the folder of a run is called."""
    yield from filter(None, (leaner(climbed), _still_waiting(climbed, name), _disturbed(climbed)))


def _disturbed(climbed: Climbed) -> str:
    """That other jobs slowed runs; empty where none did."""
    seen = [rung.seen.others_share for rung in climbed.rungs if rung.seen]
    shares = [share.value for share in seen if isinstance(share, Measured)]
    if max(shares, default=0.0) < LOADED:
        return ""
    quietest, loudest = figures.share(min(shares)), figures.share(max(shares))
    return f"but other jobs took up to {loudest} of the CPUs meanwhile, {quietest} in the quietest run: tune again without them."


def leaner(climbed: Climbed) -> str:
    """The measured settings with clearly less memory that are as good as the best; empty where there are none."""
    best = climbed.best
    rivals = [rung for rung in climbed.rungs if rung.seen and best.seen and _is_leaner(rung.seen, best.seen)]
    if not rivals or best.seen is None:
        return ""
    rung = min(rivals, key=lambda one: _bytes(one.seen) if one.seen else inf)
    assert rung.seen is not None  # noqa: S101 - rivals have been measured
    saved = f"{figures.cell(rung.seen.memory_bytes)} instead of {figures.cell(best.seen.memory_bytes)}"
    what = as_arguments(rung.settings) or "the script as written"
    return f"leaner: {what} takes {saved}, and one run each cannot tell it from the best."


def _is_leaner(seen: Seen, best: Seen) -> bool:
    is_small = _bytes(seen) < (1 - WORTH_SAVING) * _bytes(best)
    is_near = seen.step_s.value <= (1 + NOISE) * best.step_s.value
    return is_small and is_near and speedup(seen.times, best.times).interval.low <= 1


def _still_waiting(climbed: Climbed, name: Callable[[Path], str]) -> str:
    """Where the best still starves, the command that says why, with the run's folder as `name` has it; else empty."""
    seen, run_dir = climbed.best.seen, climbed.best.run_dir
    share = seen.starved_share if seen is not None else None
    if not isinstance(share, Measured) or share.value < STARVES.value or run_dir is None:
        return ""
    command = f"loaderdoctor report {shlex.quote(name(run_dir))}"
    return f"even so it waits for data {figures.share(share.value)} of the time: `{command}` says why."


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
    return seen.samples_per_s.value if isinstance(seen.samples_per_s, Measured) else 1 / seen.step_s.value


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
