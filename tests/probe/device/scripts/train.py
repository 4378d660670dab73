"""Trains on a simulated GPU and prints its own stopwatch: python train.py TRUTH LOAD_MS COPY SYNC_EVERY STEPS."""

from __future__ import annotations

import json
import sys
import time

import simaccel

TRUTH, LOAD_MS, COPY, SYNC_EVERY, STEPS = sys.argv[1], *(int(a) if a.isdigit() else a for a in sys.argv[2:])
OP_S = {"addmm": 2e-3, "mm": 2e-3}
simaccel.install(as_cuda=True, op_seconds=OP_S, h2d_pinned=0.2e9, h2d_pageable=0.1e9, truth=TRUTH)

import torch  # noqa: E402 - the device comes first, as in a user's script
from torch import nn  # noqa: E402 - the same
from torch.utils.data import DataLoader, Dataset  # noqa: E402 - the same


class Slow(Dataset):
    """Batches of half a megabyte, each after some time."""

    def __len__(self):
        return 4 * STEPS

    def __getitem__(self, index):
        time.sleep(LOAD_MS / 4000)
        return torch.full((32_768,), float(index))


def ahead(loader):
    """Copies the next batch on a stream of its own."""
    copies, last = torch.cuda.Stream(), None
    for batch in loader:
        with torch.cuda.stream(copies):
            moving = batch.to("cuda", non_blocking=True)
        if last is not None:
            yield last
        torch.cuda.current_stream().wait_stream(copies)
        last = moving
    yield last


def main():
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Linear(64, 16), nn.Linear(16, 1)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
    loader = DataLoader(Slow(), batch_size=4, pin_memory=COPY != "pageable")
    steps, asked = [], time.perf_counter()
    for step, batch in enumerate(ahead(loader) if COPY == "side" else loader, 1):
        got = time.perf_counter()
        here = batch.to("cuda", non_blocking=COPY != "blocking")
        copied = time.perf_counter()
        loss = net(here[:, :64]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if SYNC_EVERY and step % SYNC_EVERY == 0:
            loss.item()
        steps.append((asked, got, copied, time.perf_counter()))
        asked = time.perf_counter()
    print(json.dumps(steps))


main()
