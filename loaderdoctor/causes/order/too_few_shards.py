"""A stream has fewer shards than workers, or uneven ones: some workers have nothing to do while the training waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import CHANGES_ORDER, Action, Cause, Change, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import at_least, bound, counted, has_workers, known, waits
from loaderdoctor.causes.order.gaps import is_stream
from loaderdoctor.predict.change import SHARDS

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals

IDLE = Threshold(
    0.2, "share", "Shards of slightly different length leave some workers idle for the last moments of any pass."
)
THEN = Threshold(0.6, "share", "Most of the waiting must be while some worker has nothing left, or that is not why.")
SHARDS_A_WORKER = 4  # times: what is dealt in so many pieces ends at about the same time everywhere


def treat(_signals: Signals, loader: LoaderSignals) -> Treatment:
    """More and smaller shards; where only some are longer than others, as long as the last ones work alone."""
    workers = loader.settings.num_workers
    working = loader.order.streams
    most = f"Split the data into at least {SHARDS_A_WORKER * workers} shards of equal size, and deal them out by worker (and rank)."
    example = "mine = shards[rank * workers + worker :: ranks * workers]  # of len(shards) >= 4 * ranks * workers"
    code = Action("code", most, site=loader.site, example=example)
    if working is None:
        late = known(loader.exposed_wait_share) * known(loader.order.waits_at_end_share)
        return Treatment(most, bound=bound(late, at_least=late / 2), actions=(code,), safety=CHANGES_ORDER)
    text = f"Only {counted(working)} of {workers} yielded anything. {most}"
    return Treatment(text, Change(lifts=(SHARDS,)), actions=(code,), safety=CHANGES_ORDER)


CAUSE = Cause(
    id="too-few-shards",
    title="There are fewer shards than workers, and the others have nothing to do",
    applies=(has_workers, is_stream),
    gates=(
        waits(),
        at_least(
            Signal("loader.order.idle_at_end_share", "Workers whose part of the stream has ended, of all their time"),
            IDLE,
        ),
        at_least(
            Signal("loader.order.waits_at_end_share", "Waiting while some worker has nothing left, of all waiting"),
            THEN,
        ),
    ),
    treat=treat,
    explains=("too-few-workers", "bursty-prefetch", "head-of-line"),
)
