"""Workers wait for answers from elsewhere, one after the other, and more of them would wait side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loaderdoctor.causes.base import Action, Cause, Signal, Threshold, Treatment
from loaderdoctor.causes.gates import (
    BUSY_WORKERS,
    WAITING,
    WORKERS_BUSY,
    at_least,
    below,
    derived,
    has_workers,
    has_workload,
    is_torchs,
    waits,
)
from loaderdoctor.causes.storage.reading import ELSEWHERE, apart_from_cores
from loaderdoctor.causes.workers import too_few_workers
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.causes.base import Evidence
    from loaderdoctor.values import Value

ANSWERS = Threshold(0.5, "share", "Where less of a batch is waiting, the other part decides how fast it is made.")
OWN_THREADS = Threshold(
    0.25, "cores", "A worker whose other threads compute this much may be waiting for them, not for a network."
)
_EXAMPLE = """\
def __getitems__(self, indices):   # asked once for a whole batch
    with ThreadPoolExecutor(len(indices)) as pool:
        return list(pool.map(self.__getitem__, indices))"""


def _waits_for_answers(signals: Signals, loader: LoaderSignals) -> Value:
    """Waiting without a disk; on a file system whose files lie elsewhere, waiting for those as well."""
    blocked, disk = (apart_from_cores(share, loader) for share in (loader.fetch_blocked_share, loader.fetch_disk_share))
    elsewhere = signals.disk is not None and signals.disk.kind in ELSEWHERE
    if not elsewhere or not isinstance(blocked, Measured) or not isinstance(disk, Measured):
        return blocked
    low, best, high = (min(1.0, getattr(blocked, end) + getattr(disk, end)) for end in ("low", "value", "high"))
    return Measured(best, low, high, blocked.n, blocked.unit)


def _own_threads(_signals: Signals, loader: LoaderSignals) -> Value:
    """CPUs that the threads of a worker beside its main one keep busy."""
    cores, others = loader.making.worker_cores, loader.making.worker_other_threads_share
    if not isinstance(cores, Measured):
        return cores
    if not isinstance(others, Measured):
        return others
    low, best, high = (getattr(cores, end) * others.value for end in ("low", "value", "high"))
    return Measured(best, low, high, cores.n, "cores")


def treat(signals: Signals, loader: LoaderSignals) -> Treatment | tuple[Evidence, ...]:
    """As many workers as wait side by side; fewer round trips are the larger change."""
    found = too_few_workers.treat(signals, loader)
    if not isinstance(found, Treatment):
        return found
    fewer = Action(
        "code",
        "Ask for the samples of a batch side by side, or for many in one request",
        site=loader.reads.waiting_site,
        example=_EXAMPLE,
    )
    workers = found.change.settings.get("num_workers") if found.change else None
    return replace(
        found,
        advice=f"Start {workers} workers: each sample waits for an answer from elsewhere, and waits take no core. "
        "Fewer, larger requests, or a local copy, take the waits away.",
        actions=(fewer,),
    )


CAUSE = Cause(
    id="remote-latency",
    title="Each sample waits for round trips to somewhere else",
    applies=(has_workers, is_torchs, has_workload),
    gates=(
        waits(),
        at_least(too_few_workers.STEADY_WAITS, WAITING),
        at_least(
            derived(
                "loader.fetch_blocked_share",
                "Making a batch, waits for a core aside, is waiting for answers",
                _waits_for_answers,
            ),
            ANSWERS,
        ),
        below(
            derived("loader.making.worker_cores", "Other threads of a worker compute meanwhile", _own_threads),
            OWN_THREADS,
            if_known=True,
        ),
        at_least(BUSY_WORKERS, WORKERS_BUSY),
    ),
    treat=treat,
    shows=(
        Signal("loader.sample_s", "A sample takes"),
        Signal("loader.fetch_cpu_share", "Making it computes"),
        Signal("machine.cpu_busy_share", "The CPUs are busy, by this job"),
    ),
    explains=("too-few-workers",),
)
