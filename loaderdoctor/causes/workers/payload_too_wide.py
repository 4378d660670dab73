"""Batches have more bytes than the way to the device takes in a step, however well they are copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import CHANGES_RESULTS, Cause, Change, Interval, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import (
    BLOCKING,
    BLOCKING_COPIES,
    COPIES_FELT,
    FROM_PINNED,
    PINNED,
    at_least,
    below,
    bound,
    derived,
    known,
    value_of,
)
from loaderdoctor.predict import part_scaled
from loaderdoctor.values import Measured, Missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

WIDE = Threshold(1 << 20, "bytes a step", "Copies of less take as long as their start, not as their bytes.")
MOSTLY = Threshold(0.4, "share", "Where samples cost more than stacking them, narrower ones are not made faster.")
HALVED, QUARTERED = 1 / 2, 3 / 4  # of the bytes that float16 and uint8 save against float32


def _moves_batches(signals: Signals, loader: LoaderSignals) -> str | None:
    """Batches are wide on their way to a device, or, without one, on their way out of the workers."""
    if signals.device.kind != "cpu":
        return None
    if loader.settings.num_workers == 0:
        return "The run used no device but the CPU, and no workers: no batch is moved."
    if not loader.settings.collate.endswith("default_collate"):
        return "The run used no device but the CPU, and a collate function of the script's own: what it copies is not known."
    return None


def _on_device(name: str, of_cpu: float) -> Callable[[Signals, LoaderSignals], Value]:
    """The device's signal; on a CPU, where nothing is copied to one, what passes."""

    def value(signals: Signals, _loader: LoaderSignals) -> Value:
        if signals.device.kind == "cpu":
            return Measured.exact(of_cpu, "share")
        found: Value = getattr(signals.device, name)
        return found

    return value


def _stacking(signals: Signals, loader: LoaderSignals) -> Value:
    """Of making a batch without workers' waits for a core: copying its samples into one piece of shared memory."""
    if signals.device.kind != "cpu":
        return Measured.exact(1.0, "share")
    collate, made = loader.collate_s, loader.fetch_s
    if not isinstance(collate, Measured) or not isinstance(made, Measured) or made.value <= 0:
        return collate if isinstance(collate, Missing) else made
    best = min(1.0, collate.value / made.value)
    return Measured(
        best, min(best, collate.low / made.high), max(best, collate.high / max(made.low, 1e-9)), made.n, "share"
    )


def _moved_bytes(signals: Signals, loader: LoaderSignals) -> Value:
    return loader.batch_bytes if signals.device.kind == "cpu" else signals.device.copy_bytes_per_step


def _moved_share(signals: Signals, loader: LoaderSignals) -> Value:
    return loader.exposed_wait_share if signals.device.kind == "cpu" else signals.device.copy_share


FELT = derived("device.copy_share", "Waiting while batches are moved, of the time", _moved_share)
STACKING = derived("loader.collate_s", "Copying samples into the batch, of making one", _stacking)
BYTES = derived("device.copy_bytes_per_step", "Bytes moved in a step", _moved_bytes)


def treat(signals: Signals, loader: LoaderSignals) -> Treatment:
    """Fewer bytes for the same numbers."""
    advice = "Send narrower numbers (uint8 pictures, class numbers, float16) and widen them where they are used."
    doubts = ("How wide the numbers need to be is not in a recording; the gain is that of half to a quarter.",)
    if signals.device.kind == "cpu":
        stacked = known(value_of(STACKING, signals, loader))
        left = Interval(1 - QUARTERED, 1 - (HALVED + QUARTERED) / 2, 1 - HALVED)
        change = Change(work={"cpu_s": part_scaled(1.0, stacked, left)})
        return Treatment(advice, change, safety=CHANGES_RESULTS, doubts=doubts)
    copies = known(signals.device.copy_share)
    return Treatment(
        advice, bound=bound(copies * QUARTERED, at_least=copies * HALVED), safety=CHANGES_RESULTS, doubts=doubts
    )


CAUSE = Cause(
    id="payload-too-wide",
    title="Batches are wider than they need to be when they are moved",
    applies=(_moves_batches,),
    gates=(
        at_least(FELT, COPIES_FELT),
        at_least(BYTES, WIDE),
        at_least(derived("device.pinned_share", FROM_PINNED.text, _on_device("pinned_share", 1.0)), PINNED),
        below(derived("device.blocking_share", BLOCKING_COPIES.text, _on_device("blocking_share", 0.0)), BLOCKING),
        at_least(STACKING, MOSTLY),
    ),
    treat=treat,
    shows=(Signal("device.copy_bandwidth", "Speed of the copies"), Signal("loader.batch_bytes", "Bytes of a batch")),
    slice=FELT,
    explains=("slow-collate",),
    scope="run",
)
