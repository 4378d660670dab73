"""Pipelines at random, each a training of a few seconds and the changes of its settings that are to be measured."""

from __future__ import annotations

import random
from typing import Any

RUN_S = 1.5  # of a training as written, about
FEWEST, MOST = 60, 600  # batches of a run
WORKERS = (0, 0, 1, 1, 2, 2, 3, 4, 6, 8)
CORES = 2  # by which the length of a run is guessed; on other machines it is another one

Pipeline = dict[str, Any]


def draw(number: int) -> Pipeline:
    """The pipeline of this number: always the same one."""
    rng = random.Random(number)
    kind = rng.choice(("map", "map", "map", "stream"))
    ranks = 2 if rng.random() < 0.2 else 1
    compute = "wait" if rng.random() < 0.3 else "torch"
    compute_ms = rng.choice((4, 8, 15, 25))
    workers = rng.choice(WORKERS)
    pipeline = {
        "kind": kind,
        "work": rng.choice(("sleep", "cpu", "both", "python")),
        "make_ms": round(compute_ms * rng.choice((0.5, 1.0, 1.5, 2.0, 3.0, 5.0)), 1),
        "tail": rng.choice((1, 1, 1, 20)),
        "batch_size": rng.choice((4, 16)),
        "floats": rng.choice((64, 64, 20_000)),
        "compute": compute,
        "compute_ms": compute_ms,
        "threads": rng.choice((0, 1, 1)) if ranks == 1 else 1,
        "ranks": ranks,
        "epochs": rng.choice((1, 2, 3, 8)),
        "settings": _settings(rng, workers),
    }
    pipeline["batches"] = _batches(pipeline)
    pipeline["changes"] = _changes(rng, pipeline["settings"])
    return pipeline


def _settings(rng: random.Random, workers: int) -> dict[str, Any]:
    if not workers:
        return {"num_workers": 0}
    return {
        "num_workers": workers,
        "prefetch_factor": rng.choice((1, 2, 2, 2, 4, 8)),
        "persistent_workers": rng.random() < 0.3,
    }


def _batches(pipeline: Pipeline) -> int:
    """Of an epoch."""
    making_s, using_s = (pipeline[name] / 1e3 for name in ("make_ms", "compute_ms"))
    workers = pipeline["settings"]["num_workers"]
    side_by_side = workers if pipeline["work"] == "sleep" else min(workers, CORES)
    step_s = max(using_s, making_s / side_by_side) if workers else making_s + using_s
    return max(8, round(min(MOST, max(FEWEST, RUN_S / step_s)) / pipeline["epochs"]))


def _changes(rng: random.Random, settings: dict[str, Any]) -> list[dict[str, Any]]:
    others = [workers for workers in sorted(set(WORKERS)) if workers != settings["num_workers"]]
    changes: list[dict[str, Any]] = [{"num_workers": workers} for workers in rng.sample(others, 2)]
    if settings["num_workers"]:
        factors = [factor for factor in (1, 2, 4, 8) if factor != settings["prefetch_factor"]]
        changes.append(
            rng.choice(
                (
                    {"prefetch_factor": rng.choice(factors)},
                    {"persistent_workers": not settings["persistent_workers"]},
                )
            )
        )
    return changes
