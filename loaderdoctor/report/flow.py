"""The way of a batch as it is: who handles it, how long, what lies between, and the setting that rules each part."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loaderdoctor.report import figures
from loaderdoctor.report.model import Mark, Picture, Table
from loaderdoctor.report.sheet import LINE, WIDTH, Bar, bars, shortened, text
from loaderdoctor.report.tables import table
from loaderdoctor.values import Measured, Value, value_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.report.words import Words

GAP = 12.0  # between two parts, with an arrow in it
HIGH = 62.0
TOP = 6.0


@dataclass(frozen=True)
class _Part:
    """One that handles a batch; `every_s` is how often it can give one, None of a place where batches only lie."""

    name: str
    lines: tuple[str, ...]
    setting: str
    every_s: float | None
    is_off: bool = False


def flow(signals: Signals, words: Words) -> Picture | None:
    """Of the main loader; None where torch does not say how a loader works inside."""
    loader = signals.main
    if loader is None or not loader.settings.torch_loader:
        return None
    parts = tuple(_parts(loader, signals, words))
    slowest = max((part for part in parts if part.every_s), key=lambda part: part.every_s or 0.0, default=None)
    has_workers = loader.settings.num_workers > 0
    key = "flow.caption" if has_workers else "flow.caption.alone"
    if slowest is None:
        key = "flow.caption.unknown"
    longest = figures.seconds(slowest.every_s or 0.0) if slowest else figures.ABSENT
    said = words(key, part=slowest.name if slowest else "", every=longest)
    marks = (*_boxes(parts, slowest), *_restarts(loader, words))
    height = TOP + HIGH + 3 * LINE + (LINE if has_workers else 0) + 12
    return Picture(
        title=words("flow.title"),
        sentence=said,
        width=WIDTH,
        height=height,
        marks=marks,
        caption=said,
        data=_table(parts, words),
    )


def _parts(loader: LoaderSignals, signals: Signals, words: Words) -> Iterator[_Part]:
    settings, steps = loader.settings, signals.steps
    workers = settings.num_workers
    made_s, sent_s = value_or_none(loader.fetch_s), value_or_none(loader.send_s) or 0.0
    yield _Part(
        words("flow.sampler"),
        (_each(loader.sampler_s, words),),
        settings.sampler.rpartition(".")[2],
        value_or_none(loader.sampler_s),
    )
    if workers:
        every_s = None if made_s is None else (made_s + sent_s) / workers
        lines = (_each(loader.fetch_s, words), words("flow.busy", share=figures.cell(loader.worker_busy_share)))
        yield _Part(words.count("worker", workers), lines, f"num_workers={workers}", every_s)
        room = workers * (settings.prefetch_factor or 2)
        ready = words("flow.ready", n=_bare(loader.ready_median), room=room)
        lines = (ready, words("flow.none-ready", share=figures.cell(loader.ready_empty_share)))
        yield _Part(words("flow.queue"), lines, f"prefetch_factor={settings.prefetch_factor}", None)
        yield _pinning(loader, words)
    else:
        yield _Part(words("flow.making"), (_each(loader.fetch_s, words),), "num_workers=0", made_s)
    median_s = value_or_none(steps.median_s)
    if signals.device.kind != "cpu":
        yield _share_of_step("flow.copy", median_s, steps.h2d_share, words)
    wait = _share_of_step("flow.step", median_s, steps.data_wait_share, words)
    compute = _share_of_step("flow.step", median_s, steps.compute_share, words)
    waits = words("flow.waits", time=figures.ABSENT if wait.every_s is None else figures.seconds(wait.every_s))
    where = signals.device.kind.upper() if signals.device.kind != "cpu" else "CPU"
    yield _Part(words("flow.step"), (waits, *compute.lines), where, compute.every_s)


def _pinning(loader: LoaderSignals, words: Words) -> _Part:
    pin = next((stage.seconds_per_batch for stage in loader.stages if stage.name == "pin"), None)
    if not loader.settings.pin_memory:
        return _Part(words("flow.pin"), (words("flow.pin.off"),), "pin_memory=False", None, is_off=True)
    line = figures.ABSENT if pin is None else _each(pin, words)
    return _Part(words("flow.pin"), (line,), "pin_memory=True", None if pin is None else value_or_none(pin))


def _share_of_step(key: str, median_s: float | None, share: Value, words: Words) -> _Part:
    part = value_or_none(share)
    seconds = None if median_s is None or part is None or not math.isfinite(part * median_s) else part * median_s
    line = figures.ABSENT if seconds is None else words("flow.a-step", time=figures.seconds(seconds))
    return _Part(words(key), (line,), "", seconds)


def _each(value: Value, words: Words) -> str:
    return words("flow.a-batch", time=figures.cell(value)) if isinstance(value, Measured) else figures.ABSENT


def _bare(value: Value) -> str:
    return figures.significant(value.value) if isinstance(value, Measured) else figures.ABSENT


def _boxes(parts: tuple[_Part, ...], slowest: _Part | None) -> Iterator[Mark]:
    """Side by side, with arrows; below each the time between two batches of it, as a bar."""
    width = (WIDTH - 2 - GAP * (len(parts) - 1)) / len(parts)
    longest = (slowest.every_s if slowest else None) or 1.0
    slow: list[Bar] = []
    others: list[Bar] = []
    for index, part in enumerate(parts):
        x = 1 + index * (width + GAP)
        yield Mark("dash" if part.is_off else "frame", "rule", _frame(x, width))
        yield text(x + 5, TOP + 13, shortened(part.name, width - 6), "ink")
        for row, line in enumerate((*part.lines, part.setting)):
            yield text(x + 5, TOP + 27 + row * LINE, shortened(line, width - 6))
        if index:
            middle = TOP + HIGH / 2
            yield Mark("line", "arrow", (x - GAP + 1, middle, x - 3, middle))
            yield Mark("area", "arrow", (x - 2, middle, x - 7, middle - 3.5, x - 7, middle + 3.5))
        if part.every_s is not None and math.isfinite(part.every_s):
            bar = (x, TOP + HIGH + 6, max(1.0, width * part.every_s / longest), 7.0)
            (slow if part is slowest else others).append(bar)
            yield text(x, TOP + HIGH + 24, figures.seconds(part.every_s))
    yield from (*bars("wait", slow), *bars("compute", others))


def _frame(x: float, width: float) -> tuple[float, ...]:
    return (x, TOP, x + width, TOP, x + width, TOP + HIGH, x, TOP + HIGH, x, TOP)


def _restarts(loader: LoaderSignals, words: Words) -> Iterator[Mark]:
    """What keeping the workers over epochs saves, below them."""
    if not loader.settings.num_workers:
        return
    kept = loader.settings.persistent_workers
    start = figures.cell(loader.making.worker_start_s)
    said = words(f"flow.persistent.{'on' if kept else 'off'}", start=start, epochs=words.count("epoch", loader.epochs))
    if isinstance(loader.first_batch_gap_s, Measured):
        said = words("flow.first-batch", said=said, gap=figures.cell(loader.first_batch_gap_s))
    yield text(0, TOP + HIGH + 3 * LINE + 8, said)


def _table(parts: tuple[_Part, ...], words: Words) -> Table:
    columns = {"part": False, "setting": False, "seen": False, "every": True}
    rows = tuple(
        (
            part.name,
            part.setting or figures.ABSENT,
            "; ".join(part.lines),
            figures.ABSENT if part.every_s is None else figures.seconds(part.every_s),
        )
        for part in parts
    )
    return table(words("flow.title"), columns, rows, words)
