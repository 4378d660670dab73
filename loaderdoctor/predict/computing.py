"""What a step computes where it did not wait for its batch, and how much slower it is where it did."""

from __future__ import annotations

from functools import lru_cache
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import Workload

LONG_WAIT_S = 0.005  # as in analyse.cold, which measures it
# By how much longer, as a share, a step takes after a long wait where a run does not show it and the step holds a core all
# the time: of 25 runs that did show it, the median; two thirds of them lay between 4 % and 17 %.
COLD = 0.07
STARTS_FOR = 3  # steps at the head of an epoch that are told apart: start-up has costs of its own


def cold(workload: Workload) -> float:
    """How much longer, as a share, a step takes after a long wait."""
    if workload.device_s:
        return 0.0
    return COLD * min(1.0, workload.compute_cpu_share) if workload.cold is None else workload.cold


@lru_cache(maxsize=64)
def warm_s(workload: Workload) -> tuple[float, ...]:
    """What each step would have computed after no wait."""
    slower = 1 + cold(workload)
    return tuple(
        compute_s / slower if wait_s >= LONG_WAIT_S else compute_s
        for compute_s, wait_s in zip(workload.compute_s, workload.waits_s, strict=True)
    )


@lru_cache(maxsize=64)
def after_start_s(workload: Workload) -> tuple[float, ...]:
    """The same where no workers are started at the beginning of an epoch.

    A fork leaves the training with pages that it must copy as it first writes to them: a step right after it may take twice
    as long, which workers that stay spare it.  The run's first step stays as it is.
    """
    warm = warm_s(workload)
    others = [seconds for seconds, batch in zip(warm, workload.batches, strict=True) if batch.ordinal >= STARTS_FOR]
    if not others:
        return warm
    usual_s = median(others)
    return tuple(
        min(seconds, usual_s) if batch.ordinal == 0 and batch.epoch > 0 else seconds
        for seconds, batch in zip(warm, workload.batches, strict=True)
    )
