"""What a run of the ladder measured, in the numbers of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor import predict
from loaderdoctor.compare.gain import pace
from loaderdoctor.tune.rung import Seen
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.record import Run

NS = 1_000_000_000
NO_DEVICE = Missing("no-device", "The run used no device but the CPU.")
NOT_TOLD = Missing("device-use-not-told", "No driver told how busy the device was.")
NO_SIZE = Missing("no-batch-size", "How many samples a batch has was not recorded.")
NOT_SAMPLED = Missing("not-sampled", "The workers were not sampled from outside.")
NO_MEMORY = Missing("no-batch-bytes", "How large a batch is was not recorded.")


def seen_in(run: Run, signals: Signals, loader: LoaderSignals) -> Seen:
    """Of a run with steps of training after warm-up; `loader` is the tuned one as that run has it."""
    step = pace(signals.times)
    return Seen(
        samples_per_s=_rate(step, loader, signals.ranks),
        step_s=step,
        starved_share=signals.starved_share,
        device_share=_device_share(run, signals),
        worker_cores=_worker_cores(loader),
        memory_bytes=_memory(signals, loader),
        others_share=signals.machine.neighbour_allowed_cpu_share,
        times=signals.times,
        workers=loader.settings.num_workers,
    )


def _rate(step: Measured, loader: LoaderSignals, ranks: int) -> Value:
    size, known = loader.making.samples, loader.settings.batch_size
    samples = size.value if isinstance(size, Measured) else known
    if samples is None:
        return NO_SIZE
    per_step = samples * ranks
    return Measured(per_step / step.value, per_step / step.high, per_step / step.low, step.n, "samples/s")


def _device_share(run: Run, signals: Signals) -> Value:
    """By the driver, on the mean of all devices and looks at them in the time that is measured, which ends the run."""
    if signals.device.kind == "cpu":
        return NO_DEVICE
    looks = list(_looks(run, signals.measured_s))
    if not looks:
        return NOT_TOLD
    mean = sum(looks) / len(looks)
    return Measured(mean, min(looks), max(looks), len(looks), "share")


def _looks(run: Run, last_s: float) -> Iterator[float]:
    samples = run.samples.get("gpu")
    if samples is None or run.meta.ended_ns is None:
        return
    for row in samples.rows:
        if row["at_ns"] >= run.meta.ended_ns - last_s * NS:
            shares = [gpu["utilisation_share"] for gpu in row.get("gpus", ()) if "utilisation_share" in gpu]
            if shares:
                yield sum(shares) / len(shares)


def _worker_cores(loader: LoaderSignals) -> Value:
    """Of as many workers as there are at a time: each epoch may have new ones."""
    count = loader.settings.num_workers
    if count == 0:
        return Measured.exact(0.0, "cores")
    shares = [worker.cpu_share for worker in loader.workers if isinstance(worker.cpu_share, Measured)]
    if not shares:
        return NOT_SAMPLED
    low, best, high = (
        count * sum(getattr(share, end) for share in shares) / len(shares) for end in ("low", "value", "high")
    )
    return Measured(best, low, high, len(shares), "cores")


def _memory(signals: Signals, loader: LoaderSignals) -> Value:
    if loader.settings.num_workers == 0:
        return Measured.exact(0, "bytes")
    workload = predict.workload_of(signals, loader)
    taken = None if workload is None else predict.memory_bytes(workload, {})
    return NO_MEMORY if taken is None else Measured.exact(taken, "bytes")
