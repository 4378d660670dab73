"""A training of one of six kinds, which writes how long its loop took after the first epoch: training.py KIND STEPS."""

from __future__ import annotations

import io
import os
import sys
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

EPOCHS = 3
BATCH = 8
PICTURE, CROP = 256, 64
LINE = "the quick brown fox jumps over the lazy dog and the loader waits for the disk "


class Pictures(Dataset):
    """JPEGs in memory, decoded and shrunk for each sample."""

    def __init__(self, count):
        self.count = count
        file = io.BytesIO()
        noise = np.random.default_rng(0).integers(0, 255, (PICTURE, PICTURE, 3), dtype=np.uint8)
        Image.fromarray(noise).save(file, "JPEG")
        self.octets = file.getvalue()

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        picture = Image.open(io.BytesIO(self.octets)).resize((CROP, CROP))
        return torch.from_numpy(np.asarray(picture, dtype=np.float32).mean((1, 2))), torch.tensor(index % 2)


class Lines(Dataset):
    """Text, made numbers in Python for each sample."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        words = (LINE * 8).split()[: CROP + index % 8][:CROP]
        return torch.tensor([float(hash(word) % 97) for word in words]), torch.tensor(index % 2)


def in_memory(count):
    """Tensors."""
    return TensorDataset(torch.zeros(count, CROP), torch.zeros(count, dtype=torch.int64))


# kind: data set, seconds of sleep in a step beside its computing, settings of the loader
KINDS = {
    "memory_1ms": (in_memory, 0.0, {}),
    "memory_10ms": (in_memory, 0.009, {}),
    "jpeg": (Pictures, 0.0, {"num_workers": 1}),
    "text": (Lines, 0.0, {"num_workers": 1}),
    "spawn": (Lines, 0.002, {"num_workers": 1, "multiprocessing_context": "spawn", "persistent_workers": True}),
    "ranks": (in_memory, 0.004, {}),
}


def train(kind, steps):
    """Seconds of the loop after the first epoch."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    data, sleep_s, settings = KINDS[kind]
    loader = DataLoader(data(steps * BATCH), batch_size=BATCH, **settings)
    model = nn.Sequential(nn.Linear(CROP, 256), nn.ReLU(), nn.Linear(256, 2))
    if torch.distributed.is_initialized():
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    began = 0.0
    for epoch in range(EPOCHS):
        if epoch == 1:
            began = time.perf_counter()
        for inputs, labels in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(inputs), labels).backward()
            optimizer.step()
            time.sleep(sleep_s)
    return time.perf_counter() - began


def rank(number, kind, steps, meeting):
    """One of two ranks; the first one writes."""
    torch.distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=number, world_size=2)
    took_s = train(kind, steps)
    torch.distributed.destroy_process_group()
    if number == 0:
        write(took_s)


def write(took_s):
    """Where the bench reads it."""
    Path(os.environ["LOOP_TIME"]).write_text(str(took_s), encoding="ascii")


if __name__ == "__main__":
    chosen, count = sys.argv[1], int(sys.argv[2])
    if chosen == "ranks":
        torch.multiprocessing.spawn(rank, (chosen, count, os.environ["LOOP_TIME"] + ".meeting"), nprocs=2)
    else:
        write(train(chosen, count))
