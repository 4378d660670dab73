"""What one replay is about: every batch's service, the consumer's work, and the loader's settings, as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from loaderdoctor.predict import computing
from loaderdoctor.predict.change import BEFORE_FIRST, BUFFER
from loaderdoctor.predict.costs import Knobs, copy_s, hand_over_s, knobs_of, run_ahead, turnover_s
from loaderdoctor.predict.task import Task
from loaderdoctor.predict.thin import Kept, kept

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from loaderdoctor.analyse.signals import BatchWork, Workload

# Of the cores that a job may use, what it gets when all are wanted: the rest goes to interrupts, to other processes and to
# cores that idle until the scheduler moves somebody.  Fitted to the replays that `speedup` tells of, on two cores: of 0.8,
# 0.85, 0.9 and 1.0 it has the smallest error in nine of ten cases.
FULL_MACHINE = 0.85
_WORK = ("cpu_s", "disk_s", "blocked_s")


@dataclass(frozen=True)
class Plan:
    """One schedule to replay; lists are aligned with the batches that were kept."""

    workers: int
    prefetch: int
    cores: float
    neighbours: float  # cores that other jobs want all the time
    in_order: bool
    owners: list[int]  # of a stream that is handed out as it comes: the worker whose part each batch is of; else empty
    making: list[Task]  # in a worker, or in the consumer when there are none
    using: list[Task]  # the consumer's own work on the batch, receiving it included
    receive_s: list[float]  # the first part of `using`, during which the batch is still on its way
    receive_wait_s: list[float]  # what comes on top where the worker that made the batch is making another one by then
    cold: float  # by how much longer, as a share, `using` takes after a long wait
    copy_s: float
    device_s: list[float]  # empty where the consumer and the device are one
    run_ahead: int | None
    gap_s: list[float]  # before each epoch, from iter() on
    epochs: list[range]  # which batches each epoch has
    weights: list[float]  # how many measured batches each one stands for; 0 during warm-up

    def using_shorter_by(self, waited: float) -> Plan:
        """The plan without what the consumer waited for a core: `waited` is that wait over its CPU time.

        Its waits are part of the recorded times, and come back in the replay where processes compete.
        """
        return replace(self, using=[_without_waits(task, waited) for task in self.using])


def plan(workload: Workload, changes: Mapping[str, Any], copies_s: float | None = None) -> Plan:
    """The schedule of this workload under its settings with `changes`; `copies_s` overrides the copy's best guess."""
    knobs = knobs_of(workload, changes)
    chosen = kept(workload)
    epochs, gap_s = _epochs(workload, knobs, chosen)
    batches = _batches(workload, knobs, chosen)
    hand_overs = [_hand_over(workload, knobs, batch) for batch in batches]
    host_s = _host_s(workload, knobs)
    return Plan(
        workers=knobs.workers,
        prefetch=knobs.prefetch,
        cores=_cores(workload),
        neighbours=workload.neighbour_cores,
        in_order=knobs.in_order,
        owners=_owners(workload, knobs, batches),
        making=[_making(batch, sent_s, knobs) for batch, (sent_s, _) in zip(batches, hand_overs, strict=True)],
        using=[
            _using(host_s[one.index], workload, received_s)
            for one, (_, received_s) in zip(chosen, hand_overs, strict=True)
        ],
        receive_s=[received_s for _, received_s in hand_overs],
        receive_wait_s=[batch.receive_wait_s if knobs.workers else 0.0 for batch in batches],
        cold=computing.cold(workload),
        copy_s=copy_s(workload, knobs).best if copies_s is None else copies_s,
        device_s=[workload.device_s[one.index] for one in chosen] if workload.device_s else [],
        run_ahead=run_ahead(workload, knobs),
        gap_s=gap_s,
        epochs=epochs,
        weights=[one.weight if one.index >= workload.measured_from else 0.0 for one in chosen],
    )


def _cores(workload: Workload) -> float:
    """What the job gets of its cores when it wants all of them: at least what it got in the run."""
    usual = max(min(workload.cores, 1.0), workload.cores * FULL_MACHINE)
    return min(workload.cores, max(usual, workload.used_cores))


def _host_s(workload: Workload, knobs: Knobs) -> tuple[float, ...]:
    """The consumer's own work on each batch."""
    if workload.device_s:
        return workload.host_s
    stays = knobs.persistent and not _recorded(workload).persistent
    return computing.after_start_s(workload) if stays else computing.warm_s(workload)


def _epochs(workload: Workload, knobs: Knobs, chosen: tuple[Kept, ...]) -> tuple[list[range], list[float]]:
    recorded = _recorded(workload)
    gaps_s = workload.epoch_overhead_s[1:]
    restarts = min(1.0, workload.restart_s * len(gaps_s) / sum(gaps_s)) if sum(gaps_s) > 0 else 0.0
    places = {epoch: place for place, epoch in enumerate(dict.fromkeys(batch.epoch for batch in workload.batches))}
    epochs: list[range] = []
    gaps: list[float] = []
    start = 0
    for stop in range(1, len(chosen) + 1):
        epoch = workload.batches[chosen[start].index].epoch
        if stop < len(chosen) and workload.batches[chosen[stop].index].epoch == epoch:
            continue
        place = places[epoch]
        gap_s = workload.epoch_overhead_s[place] if place < len(workload.epoch_overhead_s) else 0.0
        then_s = gap_s + turnover_s(workload, knobs, place) - turnover_s(workload, recorded, place)
        if place > 0 and knobs.persistent and not recorded.persistent:
            then_s = min(then_s, gap_s * (1 - restarts))
        gaps.append(max(0.0, then_s))
        epochs.append(range(start, stop))
        start = stop
    return epochs, gaps


def _batches(workload: Workload, knobs: Knobs, chosen: tuple[Kept, ...]) -> list[BatchWork]:
    """The batches to replay, without what a change takes away from the first ones of each worker.

    Where workers stay that did not, what each did at its first batch is done once.  A stream's pass may begin with work of
    its own, which is not the worker's: its first batches stay as they are, unless that is what is lifted.
    """
    batches = [workload.batches[one.index] for one in chosen]
    settings = workload.settings
    if BUFFER in workload.lifted:
        even = _mean(workload)
        return [_with_work(batch, even) if batch.epoch > 0 else batch for batch in batches]
    stays = knobs.persistent and not _recorded(workload).persistent
    was_started = settings.num_workers > 0 and settings.dataset_kind == "map"
    if (stays and was_started) or BEFORE_FIRST in workload.lifted:
        usual = _usual(workload)
        return [_with_work(batch, usual) if _is_slow_first(batch, usual, workload) else batch for batch in batches]
    return batches


def _recorded(workload: Workload) -> Knobs:
    return knobs_of(replace(workload, lifted=()), {})


def _is_slow_first(batch: BatchWork, usual: BatchWork | None, workload: Workload) -> bool:
    """Whether it is the first batch that a worker made in an epoch, but for the run's first one, and took longer for it."""
    heads = max(1, workload.settings.num_workers)
    return usual is not None and batch.epoch > 0 and batch.ordinal < heads and _wall_s(batch) > _wall_s(usual)


@lru_cache(maxsize=16)
def _usual(workload: Workload) -> BatchWork | None:
    """The batch of which half of those that no worker begins with take longer."""
    heads = max(1, workload.settings.num_workers)
    others = sorted((batch for batch in workload.batches if batch.ordinal >= heads), key=_wall_s)
    return others[len(others) // 2] if others else None


@lru_cache(maxsize=16)
def _mean(workload: Workload) -> BatchWork:
    count = len(workload.batches)
    parts = {name: sum(getattr(batch, name) for batch in workload.batches) / count for name in _WORK}
    return replace(workload.batches[0], **parts)


def _with_work(batch: BatchWork, like: BatchWork | None) -> BatchWork:
    return batch if like is None else replace(batch, **{name: getattr(like, name) for name in _WORK})


def _wall_s(batch: BatchWork) -> float:
    return batch.cpu_s + batch.disk_s + batch.blocked_s


def _owners(workload: Workload, knobs: Knobs, batches: list[BatchWork]) -> list[int]:
    """A worker makes its own part of a stream, however fast the others are: out of order, that decides who makes what."""
    settings = workload.settings
    is_same = settings.dataset_kind == "iterable" and knobs.workers == settings.num_workers and not knobs.in_order
    owners = [batch.worker for batch in batches] if is_same else []
    return owners if all(0 <= owner < knobs.workers for owner in owners) else []


def _hand_over(workload: Workload, knobs: Knobs, batch: BatchWork) -> tuple[float, float]:
    """Seconds of CPU to send a batch, and to take it; the consumer chooses the indices of another one meanwhile."""
    if not knobs.workers:
        return 0.0, 0.0
    sent_s, received_s = hand_over_s(workload, batch.send_s, batch.receive_s - batch.receive_wait_s)
    return sent_s, received_s + batch.choose_s


def _making(batch: BatchWork, send_s: float, knobs: Knobs) -> Task:
    chosen_s = 0.0 if knobs.workers else batch.choose_s
    seconds = batch.cpu_s + batch.disk_s + batch.blocked_s + send_s + chosen_s
    if seconds <= 0:
        return Task(0.0, 0.0)
    return Task(seconds, (batch.cpu_s + send_s + chosen_s) / seconds, batch.disk_s / seconds)


def _using(work_s: float, workload: Workload, receive_s: float) -> Task:
    """Taking the batch and computing; measured waits for a core are left out, since the replay has its own."""
    seconds = work_s * (1 - (workload.queued_share or 0.0)) + receive_s
    return Task(seconds, (work_s * workload.compute_cpu_share + receive_s) / seconds) if seconds > 0 else Task(0.0, 0.0)


def _without_waits(task: Task, waited: float) -> Task:
    """The task alone on the machine: CPU time, `waited` times as much wait for a core, and the rest made up the record.

    Where all of it was taken for CPU time, because nothing better is known, the wait is a part of that.
    """
    cpu_s = min(task.seconds * task.cpu_share, task.seconds / (1 + waited))
    seconds = task.seconds - cpu_s * waited
    # More than one core at once (threads of the training's own) stays as it is.
    return (
        Task(seconds, max(cpu_s / seconds, task.cpu_share) if task.cpu_share > 1 else cpu_s / seconds)
        if seconds
        else task
    )
