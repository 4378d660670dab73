"""What the probe costs: `python tests/benchmarks/bench_probe.py`.

A batch through a queue takes torch 0.7 ms of CPU on either side, give or take more than the probe adds: there, the hooks are
timed around methods that do nothing, at once and amid the training of a small model, on whose way through Python and C++ our
code leaves the processor's caches, as it does in earnest.  What is made in the main process is timed for real.  Pairs with and
without a recording, alternating, medians of the differences with the quartiles; CPU time; microseconds, each against its bar.
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

import loaderdoctor

BATCHES, STEPS, PAIRS = 2000, 500, 25
FOLDER = Path(loaderdoctor.__file__).parent / "probe"


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
    """What a recording adds to a batch made in this process."""
    differences = []
    for _ in range(PAIRS):
        plain_s = epoch_s(**settings)
        with recording(probe):
            differences.append((epoch_s(**settings) - plain_s) * 1e6)
    return differences


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


def hooked_iterator():
    """The kind of FakeIterator that a recording would make of torch's."""
    iteration, arrivals = hooks("iteration"), hooks("arrivals")
    return type(
        "Hooked",
        (FakeIterator,),
        {
            "__next__": iteration._next(FakeIterator.__next__),
            "_next_index": iteration._choosing(FakeIterator._next_index),
            "_get_data": arrivals.hook_arrivals(FakeIterator._get_data),
        },
    )


def watched(iterator, recorded):
    """The iterator as one that this recording has seen being built."""
    watches = sys.modules["_loaderdoctor_probe.watch"]
    iterator.__dict__[watches.ATTRIBUTE] = watch = watches.Watch(recorded, 1, 1, 0)
    watch.building = False
    return iterator


class Training:
    """A step on the CPU."""

    def __init__(self):
        self.model = torch.nn.Sequential(*(torch.nn.Linear(8, 8) for _ in range(8)))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-9)
        self.inputs = torch.zeros(4, 8)

    def __call__(self):
        self.optimizer.zero_grad()
        self.model(self.inputs).sum().backward()
        self.optimizer.step()


def nothing():
    """A step of no training."""


def iterating_us(probe, train):
    """What a recording adds to a step whose batch comes from a worker; the optimizer's hook is a part of it."""
    kind = hooked_iterator()
    differences = []
    for _ in range(PAIRS):
        plain_us = steps_us(FakeIterator(), train)
        with recording(probe) as recorded:
            differences.append(steps_us(watched(kind(), recorded), train) - plain_us)
    return differences


def steps_us(iterator, train):
    """CPU microseconds of a step."""
    began = time.thread_time()
    for _ in range(STEPS):
        next(iterator)
        train()
    return (time.thread_time() - began) / STEPS * 1e6


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
            rounds = [(repeated_us(batch), repeated_us(lambda: pickler.dumps((1, None)))) for _ in range(PAIRS)]
            return [hooked_us - plain_us for hooked_us, plain_us in rounds]
        finally:
            multiprocessing.queues._ForkingPickler = pickler


def repeated_us(function):
    """CPU time of a call."""
    began = time.thread_time()
    for _ in range(STEPS):
        function()
    return (time.thread_time() - began) / STEPS * 1e6


def rows(probe):
    """What is measured, the pairs' differences in microseconds, and the bar."""
    alone, wide = added_us(probe, batch_size=1), added_us(probe, batch_size=64)
    yield "main, a batch from a worker, at once", iterating_us(probe, nothing), 20
    yield "main, the same amid a training", iterating_us(probe, Training()), 20
    yield "worker, a batch", working_us(probe), 40
    yield "main, a batch made there", alone, 60  # it is both at once
    yield "a sample", [(many - one) / 63 for one, many in zip(sorted(alone), sorted(wide), strict=True)], 0.5


def main():
    torch.set_num_threads(1)
    for name, added, bar in rows(loaded_probe()):
        low, middle, high = statistics.quantiles(added, n=4)
        verdict = "over" if middle > bar else "ok"
        print(f"{name:38} {middle:7.2f} us [{low:7.2f}, {high:7.2f}]   bar {bar} us   {verdict}", flush=True)


if __name__ == "__main__":
    main()
