"""What the causes of the loop's own work ask alike: how much of the time it takes, and what goes when it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Change, Threshold, Treatment
from loaderdoctor.causes.gates import bound, known
from loaderdoctor.values import Interval

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.causes.base import Action
    from loaderdoctor.values import Value

QUARTER = Threshold(
    0.25, "share", "What takes a quarter of the time beside the training is more than a log or a metric."
)
HOST = "host"


def shorter(
    signals: Signals, loader: LoaderSignals, share: Value, left: Interval, what: tuple[str, Action]
) -> Treatment:
    """The loop without a share of the time, of which `left` remains: replayed on a CPU, a bound where a device works aside."""
    advice, action = what
    waits = known(loader.exposed_wait_share)
    part = min(1.0, known(share) / max(1e-9, 1 - waits))  # of the loop's own time
    if signals.clock != HOST or loader.workload is None:
        return Treatment(advice, bound=bound(known(share) * (1 - left.best)), actions=(action,))
    low, best, high = (1 - part * (1 - factor) for factor in (left.low, left.best, left.high))
    return Treatment(advice, Change(work={"compute_s": Interval(low, best, high)}), actions=(action,))
