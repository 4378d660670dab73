"""What the device clock adds to a step on the host: `python tests/benchmarks/bench_device.py`.

Epochs in one process, alternating: with a recording that knows of no device (what that costs, bench_probe.py tells), with one
that gives each step its events, and with one whose pace leaves them out.  Medians of the paired differences; CPU time of the
thread that trains.  The device is torch's `meta`, whose driver costs nothing; what a real one takes for the calls that were
counted is added from CUPTI's medians on a V100 and an A100, which include CUPTI's own time.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset

sys.path.insert(0, str(Path(__file__).parent))
from bench_probe import loaded_probe

STEPS, ROUNDS = 1000, 9
ALWAYS, NEVER = 1e9, 1e-9  # share of a step that its events may cost
DRIVER_US = {"stream": 0.2, "record": 2.4, "done": 1.0, "elapsed_ns": 4.0}
BARS_US = {"with events": 50, "without": 20}


class FreeDriver:
    """A device whose calls are counted and do nothing."""

    kind = "meta"
    timed = True

    def __init__(self):
        self.calls = Counter()

    def active(self):
        return True

    def seen(self):
        pass

    def index(self):
        return 0

    def stream(self, _index):
        self.calls["stream"] += 1

    def event(self):
        return object()

    def record(self, _event, _stream):
        self.calls["record"] += 1
        return True

    def done(self, _event):
        self.calls["done"] += 1
        return True

    def elapsed_ns(self, _start, _end):
        self.calls["elapsed_ns"] += 1
        return 1000

    def host_memory(self):
        return None


class Ready(Dataset):
    def __len__(self):
        return STEPS

    def __getitem__(self, _index):
        return torch.zeros(2), torch.zeros(2)


def epoch_us():
    """CPU microseconds a step, in the thread that trains."""
    loader = DataLoader(Ready(), batch_size=None)
    began = time.thread_time()
    for x, y in loader:
        x.to("meta", non_blocking=True) + y.to("meta", non_blocking=True)
    return (time.thread_time() - began) / STEPS * 1e6


class Arms:
    """Epochs of each kind, and the driver calls of the last one."""

    def __init__(self):
        self.probe = loaded_probe()
        from _loaderdoctor_probe import device, state
        from _loaderdoctor_probe.device import pace

        self.device, self.state, self.pace = device, state, pace
        self.calls = Counter()

    def recorded_us(self, *, bar):
        driver = FreeDriver() if bar else None
        self.device.find = lambda _torch: driver
        self.device.waiting.wrap_device = lambda _torch, _kind: None
        self.pace.BAR = bar
        with tempfile.TemporaryDirectory() as directory:
            Path(directory, "records").mkdir()
            self.probe.install(directory)
            took = epoch_us()
            self.probe.uninstall()
        self.calls = driver.calls if driver else Counter()
        return took


def main():
    torch.set_num_threads(1)
    arms = Arms()
    arms.recorded_us(bar=ALWAYS)  # hooks, and the first writing of the texts
    added, driver_us = {kind: [] for kind in BARS_US}, {}
    for _ in range(ROUNDS):
        host_us = arms.recorded_us(bar=None)
        for kind, bar in (("without", NEVER), ("with events", ALWAYS)):
            added[kind].append(arms.recorded_us(bar=bar) - host_us)
            driver_us[kind] = sum(DRIVER_US[call] * count for call, count in arms.calls.items()) / STEPS
    for kind, bar_us in BARS_US.items():
        ours_us = statistics.median(added[kind])
        total_us = ours_us + driver_us[kind]
        print(
            f"{kind:12} {ours_us:5.1f} us ours + {driver_us[kind]:4.1f} us driver = {total_us:5.1f} us a step, bar {bar_us}"
        )


if __name__ == "__main__":
    main()
