"""Profiles a pipeline once as it is written, and measures each of its changes without the tool, in turns."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loaderdoctor import predict
from loaderdoctor.analyse.build import signals_of
from loaderdoctor.record import read

if TYPE_CHECKING:
    from .pipelines import Pipeline

SCRIPT = Path(__file__).with_name("script.py")
ROUNDS = 3
DISTURBED = 1.1  # times as long as the quickest equal run, and the run under the tool is taken again
TRIES = 2
LIMIT_S = 300


def record(pipeline: Pipeline, folder: Path, rounds: int = ROUNDS) -> None:
    """Leaves in the folder the run under the tool, and the seconds that each setting took in each round."""
    folder.mkdir(parents=True)
    written = json.dumps(pipeline)
    (folder / "pipeline.json").write_text(written, encoding="utf-8")
    times = folder / "times.json"
    _run(str(SCRIPT), written, str(times), str(rounds))
    quickest_s = min(one[0] for one in json.loads(times.read_text(encoding="utf-8")))
    for _ in range(TRIES):
        shutil.rmtree(folder / "run", ignore_errors=True)
        _run("-m", "loaderdoctor", "profile", "--no-pdf", "-o", str(folder / "run"), str(SCRIPT), written)
        signals = signals_of(read(folder / "run"))
        if signals.measured_s / max(1, signals.steps.after_warm_up) <= DISTURBED * quickest_s:
            break


def _run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, timeout=LIMIT_S)


def compare(folder: Path) -> list[dict[str, Any]]:
    """A row a change: what is told of it by the run, and what is true by the stopwatch, with what equal runs differ by.

    Of equal runs the quickest counts: whatever else the machine did made the others longer, never this one shorter.
    """
    pipeline = json.loads((folder / "pipeline.json").read_text(encoding="utf-8"))
    rounds = json.loads((folder / "times.json").read_text(encoding="utf-8"))
    signals = signals_of(read(folder / "run"))
    loader = signals.loaders[0]
    workload = predict.workload_of(signals, loader)
    if workload is None:
        return []
    other_s = predict.elsewhere_s(signals, workload)
    quickest_s, others_s = zip(*(sorted(column)[:2] for column in zip(*rounds, strict=True)), strict=True)
    noise = max(other / quickest - 1 for quickest, other in zip(quickest_s, others_s, strict=True))
    rows = []
    for place, change in enumerate(pipeline["changes"], start=1):
        told = predict.speedup(workload, predict.Change(change), other_s)
        rows.append(
            {
                "pipeline": folder.name,
                "change": change,
                "told": [told.low, told.best, told.high],
                "true": quickest_s[0] / quickest_s[place],
                "noise": noise,
            }
        )
    return rows
