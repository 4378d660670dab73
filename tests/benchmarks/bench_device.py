"""What a recording adds to a step on the host of a device: `python tests/benchmarks/bench_device.py`.

The step takes a batch from a worker and copies its two tensors.  Rounds of such steps alternate: as the script has them,
recorded with events in every step, copies heard in one of four as in any long run; the same with all copies heard, as in its
first 32 steps; and recorded at a pace that leaves out the events.  Medians of the paired differences; CPU
time of the thread that trains.  Steps follow each other at once, and then with the training of a small model in between, on
whose way through Python and C++ our code leaves the processor's caches, as it does in earnest: that costs half as much again.

The worker's queue is one that is never empty, as in bench_probe.py, and the device is torch's `meta`, both without cost; the
layer of Python above the driver is as long as that of torch.cuda.  What a driver takes for the calls is added from CUPTI's
medians on a V100 and an A100, the longer one of the two for each call.  They include CUPTI's own time.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import torch

sys.path.insert(0, str(Path(__file__).parent))
from bench_probe import FakeIterator, Training, hooked_iterator, loaded_probe, nothing, recording, watched

STEPS, ROUNDS = 1000, 15
ALWAYS, NEVER = 1e9, 1e-9  # share of a step that its events may cost
DRIVER_US = {"record": 2.4, "query": 1.0, "elapsed_time": 4.0, "capturing": 0.9, "raw_stream": 0.1, "is_pinned": 1.0}
# kind of recording: share of a step that its events may cost, one in how many steps has its copies heard, the bar
KINDS = {"with events": (ALWAYS, 4, 50), "all heard": (ALWAYS, 1, None), "without": (NEVER, 4, 20)}
LARGE, SMALL = torch.zeros(64, 3, 64, 64), torch.zeros(64, dtype=torch.int64)


class FreeEvent:
    """What torch writes in C."""

    def __init__(self, **_flags):
        pass

    def record(self, stream):
        pass

    def query(self):
        return True

    def elapsed_time(self, _end):
        return 0.001


class Event(FreeEvent):
    """What torch writes in Python around it."""

    def record(self, stream=None):
        super().record(stream)

    def query(self):
        return super().query()

    def elapsed_time(self, end):
        return super().elapsed_time(end)


def free_torch(calls):
    """As much of torch as the backend asks of it; `calls` counts what reaches the driver, None does not."""
    event, raw_stream, capturing = Event, lambda _index: 7, lambda: False
    if calls is not None:
        event = type(
            "Event",
            (Event,),
            {name: counted(calls, name, getattr(Event, name)) for name in vars(FreeEvent) if name in DRIVER_US},
        )
        raw_stream, capturing = counted(calls, "raw_stream", raw_stream), counted(calls, "capturing", capturing)
    module = SimpleNamespace(
        Event=event,
        is_initialized=lambda: True,
        is_current_stream_capturing=capturing,
        current_device=lambda: 0,
        current_stream=lambda index: ("stream", index),
    )
    return SimpleNamespace(
        get_device_module=lambda _kind: module, _C=SimpleNamespace(_meta_getCurrentRawStream=raw_stream)
    )


def counted(calls, name, function):
    def call(*args, **kwargs):
        calls[name] += 1
        return function(*args, **kwargs)

    return call


def steps_us(iterator, train):
    """CPU microseconds of a step."""
    began = time.thread_time()
    for _ in range(STEPS):
        next(iterator)
        LARGE.to("meta", non_blocking=True), SMALL.to("meta", non_blocking=True)
        train()
    return (time.thread_time() - began) / STEPS * 1e6


class Arms:
    """Rounds of each kind."""

    def __init__(self):
        self.probe = loaded_probe()
        from _loaderdoctor_probe import device
        from _loaderdoctor_probe.device import backend, pace

        self.device, self.backend, self.pace = device, backend, pace
        device.waiting.wrap_device = lambda _torch, _kind: None
        self.hooked = hooked_iterator()
        self.original = torch.Tensor.to

    def plain_us(self, train):
        hooked, torch.Tensor.to = torch.Tensor.to, self.original
        took = steps_us(FakeIterator(), train)
        torch.Tensor.to = hooked
        return took

    def recorded_us(self, train, kind, calls=None):
        share, self.pace.HEARD_ONE_IN, _ = KINDS[kind]
        self.device.find = lambda _torch: self.backend.ModuleBackend(free_torch(calls), "meta")
        self.pace.BAR = share
        with recording(self.probe) as recorded:
            recorded.begin()
            return steps_us(watched(self.hooked(), recorded), train)

    def driver_us(self, kind):
        calls = Counter()
        original, torch.Tensor.is_pinned = torch.Tensor.is_pinned, counted(calls, "is_pinned", torch.Tensor.is_pinned)
        self.recorded_us(nothing, kind, calls)
        torch.Tensor.is_pinned = original
        return sum(DRIVER_US[call] * count for call, count in calls.items()) / STEPS, calls


def main():
    torch.set_num_threads(1)
    arms = Arms()
    driver = {kind: arms.driver_us(kind) for kind in KINDS}  # and the first writing of the texts
    for name, train in (("at once", nothing), ("amid a training", Training())):
        added = {kind: [] for kind in KINDS}
        for _ in range(ROUNDS):
            plain_us = arms.plain_us(train)
            for kind, times_us in added.items():
                times_us.append(arms.recorded_us(train, kind) - plain_us)
        for kind, (_, _, bar_us) in KINDS.items():
            ours_us, driver_us = statistics.median(added[kind]), driver[kind][0]
            told = f"{ours_us:5.1f} us ours + {driver_us:4.1f} us driver = {ours_us + driver_us:5.1f} us a step"
            print(f"{name:15} {kind:12} {told}   {against(ours_us + driver_us, bar_us)}".rstrip())
    for kind, (_, calls) in driver.items():
        print(f"calls {kind}:", ", ".join(f"{count / STEPS:.2f} {call}" for call, count in calls.items()))


def against(total_us, bar_us):
    return "" if bar_us is None else f"bar {bar_us} us   {'over' if total_us > bar_us else 'ok'}"


if __name__ == "__main__":
    main()
