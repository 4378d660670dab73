"""Batches have more bytes than the way to the device takes in a step, however well they are copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import CHANGES_RESULTS, Cause, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import (
    BLOCKING,
    BLOCKING_COPIES,
    COPIES_FELT,
    EXPOSED_COPIES,
    FROM_PINNED,
    PINNED,
    at_least,
    below,
    bound,
    known,
)

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

WIDE = Threshold(1 << 20, "bytes a step", "Copies of less take as long as their start, not as their bytes.")
HALVED, QUARTERED = 1 / 2, 3 / 4  # of the bytes that float16 and uint8 save against float32


def treat(signals: Signals, _loader: LoaderSignals) -> Treatment:
    """Fewer bytes for the same numbers."""
    copies = known(signals.device.copy_share)
    return Treatment(
        "Send narrower numbers (uint8 pictures, class numbers, float16) and widen them on the device.",
        bound=bound(copies * QUARTERED, at_least=copies * HALVED),
        safety=CHANGES_RESULTS,
        doubts=("How wide the numbers need to be is not in a recording; the gain is that of half to a quarter.",),
    )


CAUSE = Cause(
    id="payload-too-wide",
    title="Batches are wider than they need to be when they are moved",
    gates=(
        at_least(EXPOSED_COPIES, COPIES_FELT),
        at_least(Signal("device.copy_bytes_per_step", "Bytes copied in a step"), WIDE),
        at_least(FROM_PINNED, PINNED),
        below(BLOCKING_COPIES, BLOCKING),
    ),
    treat=treat,
    shows=(Signal("device.copy_bandwidth", "Speed of the copies"),),
    slice=EXPOSED_COPIES,
    scope="run",
)
