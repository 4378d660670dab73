"""Every cause that loaderdoctor knows, its page, and the verdict over a run."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from loaderdoctor.causes import (
    blocking_h2d,
    device_sync,
    gpu_bound,
    launch_bound,
    no_workers,
    over_provisioned,
    payload_too_wide,
    pin_thread_contention,
    timer_misattribution,
    too_few_workers,
    unpinned_memory,
)
from loaderdoctor.causes.decide import diagnose_with

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import Signals
    from loaderdoctor.causes.base import Cause, Diagnosis

CAUSES: tuple[Cause, ...] = (
    blocking_h2d.CAUSE,
    device_sync.CAUSE,
    gpu_bound.CAUSE,
    launch_bound.CAUSE,
    no_workers.CAUSE,
    over_provisioned.CAUSE,
    payload_too_wide.CAUSE,
    pin_thread_contention.CAUSE,
    timer_misattribution.CAUSE,
    too_few_workers.CAUSE,
    unpinned_memory.CAUSE,
)


def get(cause_id: str) -> Cause:
    """The cause with this id; KeyError where there is none."""
    return {cause.id: cause for cause in CAUSES}[cause_id]


def titles() -> dict[str, str]:
    """What each cause says, by id."""
    return {cause.id: cause.title for cause in CAUSES}


def page(cause_id: str) -> str:
    """The cause's page, Markdown; KeyError where there is no such cause."""
    name = get(cause_id).id.replace("-", "_") + ".md"
    return (files(__name__) / name).read_text(encoding="utf-8")


def diagnose(signals: Signals) -> Diagnosis:
    """The verdict: whether the run starves, why, what to change, how much faster, and what was ruled out."""
    return diagnose_with(CAUSES, signals)
