"""What kind of code makes a loader's batches, and where the script's own source calls it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from loaderdoctor.analyse import stats
from loaderdoctor.analyse.known_work import (
    AUDIO,
    DECODE,
    OWN,
    PYTHON,
    RESIZE,
    TOKENIZE,
    TRANSFORM,
    VIDEO,
    Frame,
    kind_of,
    own_frame,
)
from loaderdoctor.analyse.signals import CodeSignals, HotPlace, Site
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_PLACES = 12
FEWEST_SAMPLES = 8  # of stacks: fewer are a few hundredths of a second
NO_STACKS = Missing("no-stacks", "Too few samples of the code that makes batches were taken.")
NO_PROFILE = Missing(
    "no-profile", "No batch was made under a profiler, so interpreted code was not told from calls of compiled code."
)
NO_PIXELS = Missing("no-pixels", "The sizes of images, as they are decoded and as they are used, were not seen.")


def code_of(stacks: pd.DataFrame, stages: pd.DataFrame, collate: str) -> CodeSignals:
    """Of one loader, whose collate function is called so.  `stages` are records of batches that were profiled."""
    found = [(frames, cpu_ns, count) for frames, cpu_ns, count in _stacks(stacks) if cpu_ns > 0]
    whole_ns = sum(cpu_ns for _, cpu_ns, _ in found)
    count = sum(samples for _, _, samples in found)
    oversize = _oversize(stages)
    if count < FEWEST_SAMPLES or whole_ns <= 0:
        unknown: dict[str, Value] = dict.fromkeys(_SHARES.values(), NO_STACKS)
        return replace(CodeSignals(oversize=oversize), **unknown)  # type: ignore[arg-type]  # each is a field of Values
    kinds: dict[str, float] = {}
    for frames, cpu_ns, _ in found:
        kind = kind_of(frames, collate)
        kinds[kind] = kinds.get(kind, 0.0) + cpu_ns / whole_ns
    shares: dict[str, Value] = {
        name: stats.proportion(min(1.0, kinds.get(kind, 0.0)), count) for kind, name in _SHARES.items()
    }
    interpreted = _interpreted(stages)
    python, array = _python_and_array(kinds, interpreted, count)
    return CodeSignals(
        **{**shares, "python_share": python, "array_share": array},
        oversize=oversize,
        places=_places(found, whole_ns, count, collate),
    )


_SHARES = {
    DECODE: "decode_share",
    RESIZE: "resize_share",
    TRANSFORM: "transform_share",
    TOKENIZE: "tokenize_share",
    AUDIO: "audio_share",
    VIDEO: "video_share",
    PYTHON: "python_share",
    OWN: "array_share",
}


def _stacks(stacks: pd.DataFrame) -> Iterable[tuple[list[Frame], int, int]]:
    for text, rows in stacks.groupby("stack_text", sort=False):
        frames: list[Frame] = [(function, file, line or 0) for function, file, line in json.loads(str(text))]
        yield frames, int(rows["cpu_ns"].sum()), int(rows["samples"].sum())


def _interpreted(profiled: pd.DataFrame) -> float | None:
    """Share of the CPU time of profiled batches that the interpreter itself takes; None where that was not recorded."""
    known = profiled[profiled["cpu_ns"] > 0]
    return float(known["interpreted_ns"].sum() / known["cpu_ns"].sum()) if len(known) else None


def _python_and_array(kinds: dict[str, float], interpreted: float | None, count: int) -> tuple[Value, Value]:
    """What is not of a known kind, split into what the interpreter takes and what operations on arrays do.

    What the profile calls interpreted may lie in known kinds as well: only what these leave is python's for certain.
    """
    own, python = kinds.get(OWN, 0.0), kinds.get(PYTHON, 0.0)
    if interpreted is None:
        return NO_PROFILE, NO_PROFILE
    elsewhere = max(0.0, 1.0 - own - python)
    most = min(own, max(0.0, interpreted - python))
    least = min(own, max(0.0, interpreted - python - elsewhere))
    best = min(own, max(0.0, interpreted - python) * own / max(own + elsewhere, 1e-9))

    def share(low: float, value: float, high: float) -> Value:
        by_chance = stats.proportion(min(1.0, value), count)
        return Measured(by_chance.value, min(low, by_chance.low), max(high, by_chance.high), count, "share")

    return share(python + least, python + best, python + most), share(own - most, own - best, own - least)


def _oversize(stages: pd.DataFrame) -> Value:
    """Pixels decoded over those of the same batches' images after they were shrunk."""
    decoded = float(stages.loc[stages["stage"] == DECODE, "pixels_out"].sum())
    shrunk = stages[(stages["pixels_in"] > 0) & (stages["pixels_out"] > 0)]
    used = float(shrunk["pixels_out"].sum())
    if decoded <= 0 or used <= 0:
        return NO_PIXELS
    return Measured.exact(decoded / used, "times", len(shrunk))


def _places(
    found: Sequence[tuple[list[Frame], int, int]], whole_ns: float, count: int, collate: str
) -> tuple[HotPlace, ...]:
    """The script's own functions by kind of work, the hottest line of each, with what libraries do for them."""
    rows = []
    for frames, cpu_ns, _ in found:
        kind = kind_of(frames, collate)
        own = own_frame(frames, kind)
        if own is not None:
            (function, file, line), called = own
            rows.append((kind, function, file, line, called, cpu_ns))
    if not rows:
        return ()
    table = pd.DataFrame(rows, columns=["kind", "function", "file", "line", "called", "cpu_ns"])
    places = []
    for (kind, function, file), group in table.groupby(["kind", "function", "file"], sort=False):
        by_line, by_call = (group.groupby(name)["cpu_ns"].sum() for name in ("line", "called"))
        share = stats.proportion(min(1.0, group["cpu_ns"].sum() / whole_ns), count)
        places.append(
            HotPlace(str(kind), str(function), Site(str(file), int(by_line.idxmax())), str(by_call.idxmax()), share)
        )
    places.sort(key=lambda place: -place.share.value if isinstance(place.share, Measured) else 0.0)
    return tuple(places[:MOST_PLACES])
