"""Batches are handed out in order: a slow one holds back others that are finished."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import CHANGES_ORDER, Action, Cause, Change, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, bound, has_workers, has_workload, is_torchs, known, waits

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

HELD = Threshold(0.03, "share", "Less gains less than two runs of one script differ by.")
PARKED = Threshold(
    0.6, "share", "Where workers are merely too slow, later batches lie finished at most of the waits only by chance."
)
UNEVEN = Threshold(0.3, "times the mean", "Batches that take about equally long to make seldom overtake each other.")
SUPPLY = Threshold(1.0, "times", "Workers that make batches no faster than they are used are too slow in any order.")
OF_WAITS = Signal(
    "loader.order.held_of_waits", "Waits that ended with later batches lying finished, of the waiting within epochs"
)
SPREAD = Signal("loader.making.spread", "Batches differ in the time that they take to make, by")
SUPPLIED = Signal("loader.order.supply", "Batches that the workers can make, over those used meanwhile")
_EVEN = "Make batches even: sort or bucket by size, spread slow samples over batches, or split what is slow."


def is_in_order(_signals: Signals, loader: LoaderSignals) -> str | None:
    """Out of order nothing is held back; one worker has no order to keep."""
    if loader.settings.in_order is False:
        return "The loader hands batches out as they come."
    return "One worker makes batches one after the other." if loader.settings.num_workers == 1 else None


def treat(_signals: Signals, loader: LoaderSignals) -> Treatment:
    """Any order, where this torch can; else even batches."""
    even = Action("code", _EVEN, site=loader.site)
    if loader.settings.in_order is None:
        held = known(loader.order.held_share)
        return Treatment(
            f"{_EVEN} This version of torch has no in_order.", bound=bound(held, held / 2), actions=(even,)
        )
    return Treatment(
        "Take batches as they are finished, with in_order=False.",
        Change({"in_order": False}),
        safety=CHANGES_ORDER,
        actions=(even,),
    )


CAUSE = Cause(
    id="head-of-line",
    title="One slow batch holds back others that are finished",
    applies=(has_workers, is_torchs, is_in_order, has_workload),
    gates=(
        waits(),
        at_least(
            Signal("loader.order.held_share", "Waits within epochs that ended with later batches lying finished"), HELD
        ),
        at_least(OF_WAITS, PARKED),
        at_least(SPREAD, UNEVEN),
        at_least(SUPPLIED, SUPPLY),
    ),
    treat=treat,
    shows=(
        Signal("loader.worker_busy_share", "Workers make batches, of their time"),
        Signal("loader.slowest_sample_s", "The slowest sample of a batch"),
    ),
    slice=Signal("loader.order.held_share", "Waits within epochs that ended with later batches lying finished"),
    explains=("too-few-workers", "bursty-prefetch"),
)
