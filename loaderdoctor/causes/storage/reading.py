"""What causes of storage ask alike: how long the disk holds batches up, and how much it delivers at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loaderdoctor import predict
from loaderdoctor.causes.base import Gain, Threshold
from loaderdoctor.causes.engine import is_worth, simulated
from loaderdoctor.causes.gates import NO_SLOWER, WORTH, derived
from loaderdoctor.values import Measured, Missing

if TYPE_CHECKING:
    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.causes.base import Change
    from loaderdoctor.values import Value

FROM_DISK = Threshold(
    0.25,
    "share",
    "A batch that waits less for a disk is not made much faster by any storage: something else holds it up.",
)
LARGE_REQUESTS = Threshold(
    64 << 10,
    "bytes",
    "Below, a disk's time goes to each request, above to its bytes; the kernel itself reads ahead by 128 KiB.",
)
ELSEWHERE = ("network", "fuse")  # kinds of file systems whose every request goes to another machine, or to a program

_NO_DISK = Missing("no-block-device", "No disk was seen to deliver anything.")


def apart_from_cores(share: Value, loader: LoaderSignals) -> Value:
    """A share of the making of a batch without its waits for a core, which are another matter and come from outside."""
    in_line = loader.fetch_run_queue_share
    if not isinstance(share, Measured) or not isinstance(in_line, Measured):
        return share
    rest = max(0.05, 1 - in_line.value)
    low, best, high = (min(1.0, getattr(share, end) / rest) for end in ("low", "value", "high"))
    return Measured(best, low, high, share.n, share.unit)


DISK_WAITS = derived(
    "loader.fetch_disk_share",
    "Making a batch, waits for a core aside, is waiting for a disk",
    lambda _signals, loader: apart_from_cores(loader.fetch_disk_share, loader),
)


def _bytes_a_request(signals: Signals, _loader: LoaderSignals) -> Value:
    disk = signals.disk
    if disk is None or not isinstance(disk.read_bytes_per_s, Measured) or not isinstance(disk.reads_per_s, Measured):
        return disk.reads_per_s if disk is not None else _NO_DISK
    if disk.reads_per_s.value <= 0:
        return _NO_DISK
    size = disk.read_bytes_per_s.value / disk.reads_per_s.value
    return Measured(size, size, size, disk.reads_per_s.n, "bytes")


REQUEST_BYTES = derived("disk.reads_per_s", "The disk delivers at a time", _bytes_a_request)


def is_on_this_machine(signals: Signals, _loader: LoaderSignals) -> str | None:
    """For causes of a disk of this machine."""
    disk = signals.disk
    if disk is not None and disk.kind in ELSEWHERE:
        return f"The data lies on another machine, or behind a program ({disk.file_system})."
    return None


def of_less_work(signals: Signals, loader: LoaderSignals, change: Change) -> Gain | None:
    """The replayed gain of less work, as a bound where the replay is not sure of it: less work slows nothing down.

    None where there is nothing to replay, or nothing to gain.
    """
    workload = predict.workload_of(signals, loader)
    if workload is None:
        return None
    gain = simulated(signals, workload, change)
    if is_worth(gain) or gain.speedup.best < WORTH.value:
        return gain if is_worth(gain) else None
    return Gain(replace(gain.speedup, low=NO_SLOWER.value), "bound")
