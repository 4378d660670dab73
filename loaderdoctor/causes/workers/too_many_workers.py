"""More workers want to compute than there are cores for them: they take turns, and take the training's turn with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor import predict
from loaderdoctor.causes.base import Cause, Change, Evidence, Interval, Signal, Threshold, Treatment
from loaderdoctor.causes.engine import is_worth, predicted, simulated
from loaderdoctor.causes.gates import (
    at_least,
    below,
    counted,
    derived,
    has_workers,
    has_workload,
    is_torchs,
    waits,
)
from loaderdoctor.causes.workers.per_sample_fetch import COMPUTING
from loaderdoctor.values import Measured

if TYPE_CHECKING:
    from collections.abc import Callable

    from loaderdoctor.analyse.signals import LoaderSignals, Signals, Workload
    from loaderdoctor.values import Value

CROWDED = Threshold(1.5, "times", "One worker more than there are cores keeps them busy while another one hands over.")
QUEUEING = Threshold(0.5, "share", "Workers that wait for a core longer than they have one take turns.")
COMPUTES = Threshold(0.5, "share", "Work that waits for a disk or a network needs no core meanwhile.")
OTHERS = Threshold(0.5, "share", "Where other jobs keep most of the cores busy, the queue is theirs.")
THROTTLED = Threshold(0.05, "share", "A quota that stops the job holds up few workers as it does many.")
SINGLE = Threshold(2.0, "threads", "Workers of many threads each crowd the cores however few they are.")
SAME_COUNT = (
    0.3  # calls a sample may differ so much from the number of workers and still be it: batches are cut anywhere
)
AS_GOOD = 0.98  # of the best speed: within the noise of two runs
LEFT_EACH = 0.1  # of the repeated work, more or less, that a worker less saves


def _workers_per_core(signals: Signals, loader: LoaderSignals) -> Value:
    cpus = signals.machine.cpus_allowed
    if not isinstance(cpus, Measured):
        return cpus
    ranks = signals.neighbours
    return Measured.exact(loader.settings.num_workers * ranks / cpus.value, "times", cpus.n)


def treat(signals: Signals, loader: LoaderSignals) -> Treatment | tuple[Evidence, ...]:
    """As many workers as there are cores, or as the replay needs fewer."""
    workload = predict.workload_of(signals, loader)
    if workload is None:
        return ()
    work = _repeated(loader, workload)
    changes = [Change({"num_workers": count}, work(count) if work else {}) for count in _counts(workload)]
    gains = [simulated(signals, workload, change) for change in changes]
    best = max(gain.speedup.best for gain in gains)
    # The most workers that are as good: the next run may be slower.
    change, gain = next(
        (change, gain)
        for change, gain in reversed(list(zip(changes, gains, strict=True)))
        if gain.speedup.best >= best * AS_GOOD
    )
    if not is_worth(gain):
        return (predicted(gain, change),)
    why = f"with {loader.settings.num_workers}, they take turns on {workload.cores:.3g} cores"
    repeats = (
        f", and each goes through the whole stream for its part of it ({_calls(loader):.0f} calls a sample)"
        if work
        else ""
    )
    return Treatment(f"Start {counted(change.settings['num_workers'])}: {why}{repeats}.", change)


def _counts(workload: Workload) -> range:
    return range(1, max(1, min(workload.settings.num_workers - 1, int(workload.cores))) + 1)


def _calls(loader: LoaderSignals) -> float:
    calls = loader.making.calls_per_sample
    return calls.value if isinstance(calls, Measured) else 0.0


def _repeated(loader: LoaderSignals, workload: Workload) -> Callable[[int], dict[str, Interval]] | None:
    """How the CPU work of a batch falls with fewer workers, where each of them goes through all of a stream; else None."""
    now = workload.settings.num_workers
    if loader.settings.dataset_kind != "iterable" or abs(_calls(loader) / now - 1) > SAME_COUNT:
        return None

    def left(workers: int) -> dict[str, Interval]:
        share = workers / now
        return {"cpu_s": Interval(share * (1 - LEFT_EACH), share, min(1.0, share * (1 + LEFT_EACH)))}

    return left


CAUSE = Cause(
    id="too-many-workers",
    title="More workers want to compute than there are cores for them",
    applies=(has_workers, is_torchs, has_workload),
    gates=(
        waits(),
        at_least(
            derived("machine.cpus_allowed", "Workers of the job, over its usable cores", _workers_per_core), CROWDED
        ),
        at_least(Signal("loader.fetch_run_queue_share", "Batches being made wait for a core"), QUEUEING),
        at_least(COMPUTING, COMPUTES),
        below(Signal("machine.neighbour_allowed_cpu_share", "Cores that other jobs keep busy"), OTHERS, if_known=True),
        below(Signal("machine.throttled_share", "Time in which a quota held the job up"), THROTTLED, if_known=True),
        below(Signal("loader.making.worker_torch_threads", "Threads of torch's in a worker"), SINGLE, if_known=True),
    ),
    treat=treat,
    shows=(
        Signal("training.run_queue_share", "The training itself waits for a core, of its time"),
        Signal("machine.cpu_busy_share", "Usable cores that this job keeps busy"),
        Signal("loader.making.calls_per_sample", "Calls a sample of what the stream calls most"),
    ),
    explains=("too-few-workers", "head-of-line", "bursty-prefetch"),
)
