"""What the probe remembers of an iterator, and of a batch that is being made; neither refers to an object of the script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .layout import UNKNOWN

if TYPE_CHECKING:
    from .state import Probe
    from .usage import Reading

ATTRIBUTE = "_loaderdoctor"  # of an iterator, which nobody can pickle or copy; loaders get none


class Watch:
    """One iterator of a loader."""

    __slots__ = (
        "batch",
        "building",
        "epoch",
        "gave_ns",
        "iterator",
        "loader",
        "makers",
        "message_bytes",
        "ordinal",
        "probe",
        "received_ns",
        "resetting",
        "sampler_ns",
    )

    def __init__(self, probe: Probe, iterator: int, loader: int, epoch: int) -> None:
        self.probe = probe
        self.iterator = iterator
        self.loader = loader
        self.epoch = epoch
        self.ordinal = 0  # of the next call of next()
        self.gave_ns = 0  # what giving back a batch took when it was last heard
        self.sampler_ns = 0  # index generation so far
        self.batch = UNKNOWN  # of the last message from the workers
        self.makers: dict[int, int] = {}  # batch -> worker, from its arrival until next() returns it
        self.received_ns = self.message_bytes = UNKNOWN
        self.building = True
        self.resetting = False


class Task:
    """One batch that a worker is asked for."""

    __slots__ = ("batch", "got_ns", "idle_ns", "usage")

    def __init__(self, batch: int, idle_ns: int, got_ns: int, usage: Reading) -> None:
        self.batch = batch
        self.idle_ns = idle_ns
        self.got_ns = got_ns
        self.usage = usage
