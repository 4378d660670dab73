"""Devices for the device clock that need no torch: the simulator on its virtual clock, and a recorded trace."""

from __future__ import annotations

from dataclasses import dataclass

from simaccel.device import Event, SimDevice, VirtualClock


class SimBackend:
    """The simulator's streams and events."""

    kind = "sim"
    tells_activity = True

    def __init__(self, device=None, *, timed=True):
        self.device = device or SimDevice(VirtualClock())
        self.timed = timed
        self.is_capturing = False
        self.started = True

    def now_ns(self):
        return round(self.device.clock.now() * 1e9)

    def active(self):
        return self.started

    def seen(self):
        self.started = True

    def index(self):
        return 0

    def stream(self, index):  # noqa: ARG002 - the protocol's
        return self.device.current_stream

    def event(self):
        return Event(self.device)

    def capturing(self):
        return self.is_capturing

    def record(self, event, stream):
        assert not self.is_capturing, "it would become a node of the graph"
        event.record(stream)

    def done(self, event):
        assert not self.is_capturing, "it would end the capture"
        return event.query()

    def elapsed_ns(self, start, end):
        return round(start.elapsed_time(end) * 1e6)

    def host_memory(self):
        return None


@dataclass
class Point:
    """A place in the recorded queue."""

    at_ns: int = 0


class TraceBackend:
    """The compute stream of a trace: a point recorded at host time h is passed when what was enqueued before it is done."""

    kind = "trace"
    timed = True
    tells_activity = True

    def __init__(self, queue):
        self.queue = queue
        self.latency_ns = queue.latency.median_ns
        self.host_ns = 0

    def now_ns(self):
        return self.host_ns

    def active(self):
        return True

    def seen(self):
        pass

    def index(self):
        return 0

    def stream(self, index):  # noqa: ARG002 - the protocol's
        return self.queue.stream

    def event(self):
        return Point()

    def capturing(self):
        return False

    def record(self, event, stream):  # noqa: ARG002 - the protocol's
        event.at_ns = self.queue.event_ns(self.host_ns, self.latency_ns)

    def done(self, event):
        return event.at_ns <= self.host_ns

    def elapsed_ns(self, start, end):
        return end.at_ns - start.at_ns

    def host_memory(self):
        return None
