"""One rank's loader is late, and the others wait for that rank: they look busy, and are not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaderdoctor import predict
from loaderdoctor.causes.base import Action, Cause, Change, Gain, Interval, Signal, Threshold, Treatment
from loaderdoctor.causes.engine import is_worth, simulated
from loaderdoctor.causes.gates import MOST_SAVED, STARVES, at_least, below, bound, derived, known
from loaderdoctor.causes.not_the_loader.ranks import has_ranks
from loaderdoctor.values import Measured, Missing

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

ONE_RANK = Threshold(
    0.75, "share", "Ranks that are late in turn share what the others wait; of two equal ones, each has half of it."
)
LESS = Threshold(0.5, "of the last", "A rank that waits nearly as long for its own loader is as ill as the last one.")
IN_TURN = Threshold(
    0.25,
    "share",
    "Ranks that wait at random wait a little longer together; a quarter more is late batches of one after the other.",
)
SATURATED = 0.85  # of the workers' time: those make batches as fast as they can, and more of them would be the cure
HELD = Threshold(
    0.05, "share", "What explains less of the time than two runs of one script differ by is not worth a search."
)


LATE_IN_TURN = Missing("late-in-turn", "The ranks are late in turn.")
EXAMPLE = """\
times = []
for k in range(len(dataset)):
    began = time.perf_counter()
    dataset[k]
    times.append((time.perf_counter() - began, k))
print(sorted(times)[-20:])  # what do these have in common?"""


def beyond_own(signals: Signals) -> float:
    """How much longer the job waits than the rank that waits longest for its own loader; 0 where that is not known."""
    share = signals.starved_share
    if not isinstance(share, Measured) or len(signals.rank_shares) < 2:  # noqa: PLR2004 - one rank waits for nobody
        return 0.0
    return max(0.0, share.value - max(signals.rank_shares))


def _is_in_turn(signals: Signals, loader: LoaderSignals) -> bool:
    """Whether each rank has late batches at other steps than the others, from workers that have time to spare."""
    busy, share = loader.worker_busy_share, signals.starved_share
    spare = isinstance(busy, Measured) and busy.value < SATURATED
    return spare and isinstance(share, Measured) and beyond_own(signals) >= IN_TURN.value * share.value


def _for_one(signals: Signals, loader: LoaderSignals) -> Value:
    """All of it, where the ranks are late in turn."""
    part = signals.job.last_part
    if isinstance(part, Measured) and _is_in_turn(signals, loader):
        return Measured.exact(1.0, "share", part.n)
    return part


def _others_over_last(signals: Signals, loader: LoaderSignals) -> Value:
    """The largest waiting of the other ranks, over that of the last one."""
    if _is_in_turn(signals, loader):
        return LATE_IN_TURN
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
    if _is_in_turn(signals, loader):
        return _even(signals, loader)
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


def _even(signals: Signals, loader: LoaderSignals) -> Treatment:
    """The slow samples of all ranks, which each rank meets at steps of its own."""
    advice = (
        "Find the few samples that take long, and make them ready before the training: each holds up every rank, so that a job of "
        "more ranks stands still more often. More workers do not: the batch that is late is made by one."
    )
    return Treatment(
        advice,
        gain=bound(known(signals.starved_share)),
        actions=(Action("code", advice, site=loader.site, example=EXAMPLE),),
        doubts=("The gain lies between none and that of loaders of which no batch is late.",),
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
        at_least(derived("job.last_part", "Of that, for one rank, or for the ranks in turn", _for_one), ONE_RANK),
        below(
            derived("job.others_wait_share", "Another rank waits for its own loader", _others_over_last),
            LESS,
            if_known=True,
        ),
    ),
    treat=treat,
    shows=(Signal("job.others_wait_share", "The other ranks wait for their own loaders, at most"),),
    slice=Signal("job.last_wait_share", "The last rank waits for its loader"),
    explains=("no-workers", "too-few-workers", "remote-latency", "storage-bandwidth", "small-file-latency"),
    scope="run",
)
