"""What the probe costs: `python tests/benchmarks/bench_probe.py`.

A batch through a queue takes torch 0.7 ms of CPU on either side, give or take more than the probe adds: there, the hooks are
timed around methods that do nothing.  What is made in the main process is timed for real, in pairs of epochs with and without
a recording, alternating, medians of the differences.  All CPU time; microseconds, each against its bar.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import multiprocessing.queues
import statistics
import sys
import tempfile
import time
from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset

BATCHES, PAIRS = 2000, 11
FOLDER = Path(__file__).parents[2] / "loaderdoctor" / "probe"


class Nothing(Dataset):
    def __len__(self):
        return BATCHES * 64

    def __getitem__(self, index):
        return index


def first(samples):
    return samples[0]


def loaded_probe():
    """The probe under the name that it has in a script."""
    name = "_loaderdoctor_probe"
    spec = importlib.util.spec_from_file_location(
        name, FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)]
    )
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def hooks(name):
    return importlib.import_module(f"_loaderdoctor_probe._importlib_bootstrap.{name}")


def epoch_s(**settings):
    """CPU seconds a batch."""
    loader = DataLoader(Nothing(), collate_fn=first, **settings)
    began = time.thread_time()
    for batch, _ in enumerate(loader):
        if batch + 1 == BATCHES:
            break
    return (time.thread_time() - began) / BATCHES


def added_us(probe, **settings):
    """Median of what a recording adds to a batch made in this process."""
    differences = []
    for _ in range(PAIRS):
        plain_s = epoch_s(**settings)
        with recording(probe):
            differences.append(epoch_s(**settings) - plain_s)
    return statistics.median(differences) * 1e6


@contextlib.contextmanager
def recording(probe):
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "records").mkdir()
        probe.install(directory)
        yield sys.modules["_loaderdoctor_probe.state"].probe
        probe.uninstall()


class FakeQueue:
    """A queue that is never empty and never full."""

    def __init__(self):
        self.batch = 0

    def get(self):
        self.batch += 1
        return self.batch, [self.batch]

    def put(self, message):
        pass

    def qsize(self):
        return 1

    def _send_bytes(self, message):
        pass


class FakeIterator:
    """torch's iterator with workers, without the work."""

    def __init__(self):
        self._num_workers = 1
        self._rcvd_idx = self._tasks_outstanding = 0
        self._task_info = {0: (0,)}
        self._data_queue = FakeQueue()
        self._pin_memory = False

    def __next__(self):
        self._next_index()
        self._get_data()
        self._rcvd_idx += 1

    def _next_index(self):
        return 0

    def _get_data(self):
        return self._rcvd_idx, None


def iterating_us(probe):
    """What the hooks add to a batch that comes from a worker."""
    iteration, arrivals = hooks("iteration"), hooks("arrivals")
    watches = sys.modules["_loaderdoctor_probe.watch"]

    class Hooked(FakeIterator):
        __next__ = iteration._next(FakeIterator.__next__)
        _next_index = iteration._next_index(FakeIterator._next_index)
        _get_data = arrivals.hook_arrivals(FakeIterator._get_data)

    hooked = Hooked()
    with recording(probe) as recorded:
        hooked.__dict__[watches.ATTRIBUTE] = watch = watches.Watch(recorded, 1, 1, 0)
        watch.building = False
        return repeated_us(hooked.__next__) - repeated_us(FakeIterator().__next__)


def working_us(probe):
    """What the hooks add to a batch in a worker: both queues, the fetch, and the thread that sends."""
    worker, sending, fetching = hooks("worker"), hooks("sending"), hooks("fetch")
    message = (1, [torch.zeros(4, 4)])
    with recording(probe) as recorded:
        recorded.writer.worker = 0
        between = worker._BetweenQueues(recorded, 0)
        between.is_ready = True
        get, put = between.hook_get(FakeQueue().get), between.hook_put(FakeQueue().put)
        outgoing = FakeQueue()
        pickler = multiprocessing.queues._ForkingPickler
        sending.time_sending(recorded.writer, outgoing)

        def batch():
            get()
            stopwatch = fetching._begun()
            stopwatch.collating()
            stopwatch.ended()
            put(message)
            multiprocessing.queues._ForkingPickler.dumps((1, None))
            outgoing._send_bytes(b"")

        try:
            return repeated_us(batch) - repeated_us(lambda: pickler.dumps((1, None)))
        finally:
            multiprocessing.queues._ForkingPickler = pickler


def repeated_us(function):
    """CPU time of a call: the median of several rounds."""
    rounds = []
    for _ in range(PAIRS):
        began = time.thread_time()
        for _ in range(BATCHES):
            function()
        rounds.append((time.thread_time() - began) / BATCHES)
    return statistics.median(rounds) * 1e6


if __name__ == "__main__":
    torch.set_num_threads(1)
    probe = loaded_probe()
    alone, wide = added_us(probe, batch_size=1), added_us(probe, batch_size=64)
    rows = (
        ("main, a batch from a worker", iterating_us(probe), 20),
        ("worker, a batch", working_us(probe), 40),
        ("main, a batch made there", alone, 60),  # it is both at once
        ("a sample", (wide - alone) / 63, 0.5),
    )
    for name, added, bar in rows:
        print(f"{name:30} {added:7.2f} us   bar {bar} us   {'over' if added > bar else 'ok'}")
