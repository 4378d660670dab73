"""One rank's loader is late, and the others wait for that rank: they look busy, and are not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaderdoctor import predict
from loaderdoctor.causes.base import Action, Cause, Change, Gain, Interval, Signal, Threshold, Treatment
from loaderdoctor.causes.engine import is_worth, simulated
from loaderdoctor.causes.gates import MOST_SAVED, STARVES, at_least, below, derived
from loaderdoctor.causes.not_the_loader.ranks import has_ranks
from loaderdoctor.values import Measured, Missing

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

ONE_RANK = Threshold(
    0.75, "share", "Ranks that are late in turn share what the others wait; of two equal ones, each has half of it."
)
LESS = Threshold(0.5, "of the last", "A rank that waits nearly as long for its own loader is as ill as the last one.")
HELD = Threshold(
    0.05, "share", "What explains less of the time than two runs of one script differ by is not worth a search."
)


def _others_over_last(signals: Signals, _loader: LoaderSignals) -> Value:
    """The largest waiting of the other ranks, over that of the last one."""
    last, others = signals.job.last_wait_share, signals.job.others_wait_share
    if not isinstance(last, Measured) or not isinstance(others, Measured):
        return last if isinstance(last, Missing) else others
    if last.value <= 0:
        return Missing("no-waits", "No rank waits for its loader.")
    low, high = others.low / max(last.high, 1e-9), others.high / max(last.low, 1e-9)
    best = others.value / last.value
    return Measured(best, min(best, low), max(best, high), others.n, "of the last")


def treat(signals: Signals, loader: LoaderSignals) -> Treatment:
    """Let that rank wait no more than the next one; with more workers where those alone would do it."""
    rank, host = signals.job.last_rank, signals.job.last_host
    where = f" on {host}" if host else ""
    advice = (
        f"Look at rank {rank}{where} alone: its store, its disk and its cores, or the samples that it gets, differ from those of the "
        "other ranks, which keep up with the same loader."
    )
    settings = _more_workers(signals, loader)
    return Treatment(
        advice,
        Change(settings),
        gain=_gain(signals),
        actions=(Action("system", advice, name=f"rank {rank}", site=loader.site),),
        doubts=("The gain is that of a rank that waits as little as the next one does.",),
    )


def _gain(signals: Signals) -> Gain:
    last, others = signals.job.last_wait_share, signals.job.others_wait_share
    if not isinstance(last, Measured) or not isinstance(others, Measured):
        return Gain(Interval(1.0, 1.0, 1.0), "bound")
    saved = (last.low - others.high, last.value - others.value, last.high - others.low)
    low, best, high = (1 / (1 - min(MOST_SAVED, max(0.0, share))) for share in saved)
    return Gain(Interval(low, best, high), "bound")


def _more_workers(signals: Signals, loader: LoaderSignals) -> dict[str, Any]:
    """The setting that hides what makes that rank late, where more workers do; it does no harm to the others."""
    workload = predict.workload_of(signals, loader)
    if workload is None or not loader.settings.torch_loader:
        return {}
    settings = {"num_workers": predict.fewest_workers(workload)}
    if settings["num_workers"] <= loader.settings.num_workers or not is_worth(
        simulated(signals, workload, Change(settings))
    ):
        return {}
    return settings


CAUSE = Cause(
    id="input-straggler",
    title="One rank's loader is late, and all others wait for it",
    applies=(has_ranks,),
    gates=(
        at_least(Signal("job.last_wait_share", "The last rank waits for its loader"), STARVES),
        at_least(Signal("job.held_share", "The other ranks wait for the last one"), HELD),
        at_least(Signal("job.last_part", "Of that, for this one rank"), ONE_RANK),
        below(derived("job.others_wait_share", "Another rank waits for its own loader", _others_over_last), LESS),
    ),
    treat=treat,
    shows=(Signal("job.others_wait_share", "The other ranks wait for their own loaders, at most"),),
    slice=Signal("job.last_wait_share", "The last rank waits for its loader"),
    explains=("no-workers", "too-few-workers", "remote-latency", "storage-bandwidth", "small-file-latency"),
    scope="run",
)
