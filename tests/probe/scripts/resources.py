"""Prints what the process holds while it trains, or whole tracebacks; the same under any tool that is transparent.

resources.py held|tracebacks
"""

import gc
import os
import re
import sys
import time
import traceback
from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset

BATCHES = 8
LONGEST_S = 10
WORKERS = set()  # every child that there was


def children():
    return sorted(
        child for task in Path("/proc/self/task").iterdir() for child in (task / "children").read_text().split()
    )


def descriptors():
    """What each descriptor leads to, numbers of the system left out."""
    held = []
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - a list, made before any of its own is open
        try:
            held.append(re.sub(r"\d+", "*", os.readlink(f"/proc/self/fd/{name}")))  # noqa: PTH115 - the text itself
        except FileNotFoundError:
            continue  # the one that listed them
    return sorted(held)


def held():
    WORKERS.update(children())
    return len(list(Path("/proc/self/task").iterdir())), len(children()), descriptors()


def held_at_last():
    """What is left once the threads of queues have ended, which takes the time that it takes; segments of workers, too."""
    gc.collect()
    give_up = time.monotonic() + LONGEST_S
    while len(list(Path("/proc/self/task").iterdir())) > 1 and time.monotonic() < give_up:
        time.sleep(0.01)
    segments = os.listdir("/dev/shm")  # noqa: S108, PTH208 - names only
    return *held(), [name for name in segments if WORKERS & set(re.findall(r"\d+", name))]


class Telling(Dataset):
    def __init__(self, odd=None):
        self.odd = odd

    def __len__(self):
        return 4 * BATCHES

    def __getitem__(self, index):
        if index == self.odd:
            raise KeyError(index)
        return torch.full((3,), float(index)), repr(len(children()))


def train(title, **settings):
    torch.manual_seed(0)
    loader = DataLoader(Telling(), batch_size=4, **settings)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for epoch in range(2):
        for place, (rows, told) in enumerate(loader):
            loss = model(rows).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(title, epoch, place, loss.item().hex(), told[0])
            if place == BATCHES // 2:
                print(title, "amid", held())
    del loader, rows
    print(title, "ended", held_at_last() if settings else held())


def fail(title, **settings):
    try:
        for _ in DataLoader(Telling(odd=9), batch_size=4, **settings):
            pass
    except KeyError:
        print(title, traceback.format_exc())


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1] == "tracebacks":
        fail("main")
        fail("worker", num_workers=1)
    else:
        train("main")
        train("worker", num_workers=1)
        train("persistent", num_workers=1, persistent_workers=True)
