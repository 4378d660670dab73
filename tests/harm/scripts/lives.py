"""What a script may do with loaders for a long time, and what it would notice; prints a line for each."""

import cProfile
import gc
import random
import signal
import sys
import threading
import time
import weakref
from pathlib import Path

import torch
from torch.utils.data import DataLoader, TensorDataset

THREADS = 60
ALARMS_S = 1.0
torch.set_num_threads(1)
NUMBERS = TensorDataset(torch.arange(64.0))


def loader(**settings):
    return DataLoader(NUMBERS, batch_size=8, **settings)


def total(batches):
    return sum(float(batch.sum()) for (batch,) in batches)


class Big:
    """Say, the raw table of 40 GB."""


def kept_alive():
    big = Big()
    alive = weakref.ref(big)
    kept = loader()
    del big
    gc.collect()
    return alive() is None, len(kept)


def thousand_loaders():
    return sum(total(loader()) for _ in range(1000))


def many_epochs():
    kept = loader(num_workers=2)
    return sum(total(kept) for _ in range(8))


def abandoned():
    """Iterators that are left after a batch, with workers and without."""
    return sum(float(next(iter(loader(num_workers=n)))[0].sum()) for n in (0, 1) for _ in range(5))


def closed_early():
    closed = []

    def batches(n):
        try:
            yield from loader(num_workers=n)
        finally:
            closed.append(n)

    for n in (0, 1):
        generator = batches(n)
        next(generator)
        generator.close()
    return closed


def open_descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


def in_threads():
    """The descriptors that are open while many threads have iterated, over those before."""
    gc.collect()
    before = open_descriptors()
    iterated, seen = threading.Barrier(THREADS + 1), threading.Barrier(THREADS + 1)

    def iterate():
        total(loader())
        iterated.wait()
        seen.wait()

    threads = [threading.Thread(target=iterate) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    iterated.wait()
    opened = open_descriptors() - before
    seen.wait()
    for thread in threads:
        thread.join()
    return opened


class Timeout(Exception):  # noqa: N818 - as scripts call it
    pass


def alarms():
    """Exceptions of a signal's handler that did not reach the script."""
    fired = caught = 0

    def on_alarm(_number, _frame):
        nonlocal fired
        fired += 1
        raise Timeout

    signal.signal(signal.SIGALRM, on_alarm)
    random.seed(0)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-6)
    end = time.monotonic() + ALARMS_S
    while time.monotonic() < end:
        try:
            iterator = iter(DataLoader(TensorDataset(torch.ones(80_000, 1)), batch_size=4))
            signal.setitimer(signal.ITIMER_REAL, 0.002 + random.random() * 0.004)
            for (batch,) in iterator:
                model(batch).sum().backward()
                optimizer.step()
        except Timeout:
            caught += 1
            torch.set_grad_enabled(True)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    return fired - caught, fired > 50


def beside_cprofile():
    profile = cProfile.Profile()
    profile.enable()
    added = total(loader()) + total(loader(num_workers=1))
    profile.disable()
    (calls,) = {entry.callcount for entry in profile.getstats() if "total" in str(entry.code)}
    return added, calls


def beside_torch_profiler():
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        added = total(loader()) + total(loader(num_workers=1))
    return added, sum(event.count for event in profile.key_averages() if "DataLoader" in event.key)


def beside_a_tracer():
    """As a coverage tool counts lines."""
    lines = []

    def trace(frame, event, _argument):
        if frame.f_code is total.__code__:
            lines.append(event)
        return trace

    sys.settrace(trace)
    added = total(loader())
    sys.settrace(None)
    return added, len(lines)


LIVES = {
    "freed": kept_alive,
    "a thousand loaders": thousand_loaders,
    "many epochs": many_epochs,
    "abandoned": abandoned,
    "closed early": closed_early,
    "descriptors of threads": in_threads,
    "swallowed alarms": alarms,
    "cProfile": beside_cprofile,
    "torch.profiler": beside_torch_profiler,
    "a tracer": beside_a_tracer,
}

if __name__ == "__main__":
    for name, live in LIVES.items():
        print(f"{name}: {live()}", flush=True)
