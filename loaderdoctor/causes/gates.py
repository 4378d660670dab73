"""The questions that causes share: who has workers, is the loader waited for, how large is a signal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaderdoctor.causes.base import Evidence, Gain, Gate, Interval, Signal, Threshold
from loaderdoctor.values import Measured, Missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.values import Value

STARVES = Threshold(0.05, "share", "Below, no pipeline is worth changing, and two runs of one script differ as much.")
WAITING = Threshold(0.02, "share", "What explains less than this gains less than two runs of one script differ by.")
WORTH = Threshold(1.05, "times", "A smaller speed-up is within the noise of two runs of one script.")
NO_SLOWER = Threshold(1.0, "times", "A change that may as well slow the run down is none to propose.")
SURE = Threshold(1.05, "times", "A pipeline is called starving from this gain on; a low end above it leaves no doubt.")
# Pinned and blocking shares are near 0 or 1 in real scripts: batches take one way.  Half keeps a stray tensor out of it.
COPIES_FELT = Threshold(0.02, "share", "What explains less than this gains less than two runs of one script differ by.")
PINNED = Threshold(0.5, "share", "Most bytes come from pinned memory, so pinning is not what is left to gain.")
BLOCKING = Threshold(0.5, "share", "Most copies make the host wait until they are done.")
WORKERS_BUSY = Threshold(0.85, "share", "A worker that idles more than this is not what the training waits for.")
MOST_SAVED = 0.99  # of the time: a bound on a wait that is nearly everything is no promise of a hundredfold

EXPOSED_WAIT = Signal("loader.exposed_wait_share", "Waiting for this loader")
STARVED = Signal("starved_share", "Waiting for data, of the time after warm-up")
BUSY_WORKERS = Signal("loader.worker_busy_share", "Workers make batches, of their time")
EXPOSED_COPIES = Signal("device.copy_share", "Copies to the device that it waits for, of the time")
FROM_PINNED = Signal("device.pinned_share", "Bytes copied from pinned memory")
BLOCKING_COPIES = Signal("device.blocking_share", "Copies that the host waits for")


def at_least(signal: Signal, bound: Threshold, *, if_known: bool = False) -> Gate:
    """The signal is at or above the bound."""
    return Gate(signal, bound, if_known=if_known)


def below(signal: Signal, bound: Threshold, *, if_known: bool = False) -> Gate:
    """The signal is below the bound."""
    return Gate(signal, bound, is_least=False, if_known=if_known)


def waits() -> Gate:
    """This loader is waited for at all."""
    return at_least(EXPOSED_WAIT, WAITING)


def has_workers(_signals: Signals, loader: LoaderSignals) -> str | None:
    """For causes of workers."""
    return None if loader.settings.num_workers > 0 else "The loader has no workers."


def has_no_workers(_signals: Signals, loader: LoaderSignals) -> str | None:
    """For causes of batches that the training process makes."""
    count = loader.settings.num_workers
    return None if count == 0 else f"The loader has {counted(count)}."


def is_torchs(_signals: Signals, loader: LoaderSignals) -> str | None:
    """For causes whose cure is an argument of torch's DataLoader."""
    settings = loader.settings
    return (
        None
        if settings.torch_loader
        else f"{settings.loader_type} is not torch's DataLoader: its settings are its own."
    )


def has_workload(_signals: Signals, loader: LoaderSignals) -> str | None:
    """For causes that are told by a replay."""
    if loader.workload is None or not loader.workload.batches:
        return "No batch of this loader was recorded as it was made."
    return None


def value_of(signal: Signal, signals: Signals, loader: LoaderSignals) -> Value:
    """The signal's value; what was not recorded at all is missing."""
    if signal.derive is not None:
        return signal.derive(signals, loader)
    first, *rest = signal.name.split(".")
    value: Any = loader if first == "loader" else getattr(signals, first)
    for name in rest:
        value = None if value is None else getattr(value, name)
    if value is None:
        return Missing("not-recorded", f"There is no record of {signal.name.rpartition('.')[2].replace('_', ' ')}.")
    found: Value = value
    return found


def derived(name: str, text: str, derive: Callable[[Signals, LoaderSignals], Value]) -> Signal:
    """A signal that is computed from others."""
    return Signal(name, text, derive)


def number(value: Value, what: str, threshold: Threshold | None = None) -> Evidence:
    """A measured value in words, beside what it was held against."""
    limit = threshold.value if threshold else None
    if isinstance(value, Measured):
        return Evidence(what, value.value, value.unit, limit)
    return Evidence(f"{what}: not known, {value.reason}", threshold=limit)


def known(value: Value, otherwise: float = 0.0) -> float:
    """The number of a signal, which a gate has made sure of, or what stands in for it."""
    return value.value if isinstance(value, Measured) else otherwise


def bound(saved: float, at_least: float = 0.0) -> Gain:
    """The gain of saving a share of the time, of which `at_least` is certain; the truth lies between the two."""
    low, high = 1 / (1 - min(at_least, MOST_SAVED)), 1 / (1 - min(saved, MOST_SAVED))
    return Gain(Interval(low, (low + high) / 2, high), "bound")


def counted(workers: int) -> str:
    """So many workers, in words."""
    return "1 worker" if workers == 1 else f"{workers} workers"
