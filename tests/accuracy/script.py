"""A training with a loader of a drawn kind: `python script.py SPEC [TIMES ROUNDS]`; SPEC is JSON, see pipelines.py.

With TIMES it trains with each of its settings in turn, ROUNDS times, and writes the seconds that each took.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

WARM_UP = 0.1  # of the steps, as the starved share leaves them out
SORTED = np.random.default_rng(0).random(12_000)  # sorting it takes about half a millisecond
UNITS_A_SECOND = 1250.0


def work(spec, index):
    """Makes one sample: the drawn milliseconds of it, one in twenty longer where the tail is heavy."""
    seconds = spec["make_ms"] / spec["batch_size"] / 1e3
    if spec["tail"] > 1 and np.random.default_rng(index).random() < 0.05:
        seconds *= spec["tail"]
    share = {"sleep": 0.0, "both": 0.5, "cpu": 1.0, "python": 1.0}[spec["work"]]
    if share < 1:
        time.sleep(seconds * (1 - share))
    units = seconds * share * UNITS_A_SECOND
    if spec["work"] == "python":
        sum(i * i % 7 for i in range(int(units * 10_000)))
    else:
        for _ in range(max(1, round(units)) if units else 0):
            np.sort(SORTED)
    return torch.full((spec["floats"],), float(index))


class Map(Dataset):
    def __init__(self, spec):
        self.spec = spec

    def __len__(self):
        return self.spec["batches"] * self.spec["batch_size"] * self.spec["ranks"]

    def __getitem__(self, index):
        return work(self.spec, index)


class Stream(IterableDataset):
    def __init__(self, spec, rank):
        self.spec, self.rank = spec, rank

    def __iter__(self):
        me, parts = (worker.id, worker.num_workers) if (worker := get_worker_info()) else (0, 1)
        for index in range(me, self.spec["batches"] * self.spec["batch_size"], parts):
            yield work(self.spec, index)


class Trainer:
    """The step: a small network, or threads of torch on a product, or a wait as for a device."""

    def __init__(self, spec):
        self.spec = spec
        self.net = torch.nn.Linear(spec["floats"], 4)
        if spec["ranks"] > 1:
            self.net = torch.nn.parallel.DistributedDataParallel(self.net)
        self.optimizer = torch.optim.SGD(self.net.parameters(), 1e-6)
        self.square = torch.rand(384, 384)

    def step(self, batch):
        self.optimizer.zero_grad()
        self.net(batch).mean().backward()
        self.optimizer.step()
        if self.spec["compute"] == "wait":
            time.sleep(self.spec["compute_ms"] / 1e3)
        else:
            for _ in range(round(self.spec["compute_ms"] * 0.8)):
                torch.mm(self.square, self.square)


def train(spec, rank, settings):
    """Seconds from the end of warm-up to the end of the last step."""
    data = Stream(spec, rank) if spec["kind"] == "stream" else Map(spec)
    shards = spec["ranks"] > 1 and spec["kind"] == "map"
    sampler = torch.utils.data.DistributedSampler(data, spec["ranks"], rank) if shards else None
    loader = DataLoader(data, batch_size=spec["batch_size"], sampler=sampler, **settings)
    trainer = Trainer(spec)
    ends = []
    for _epoch in range(spec["epochs"]):
        for batch in loader:
            trainer.step(batch)
            ends.append(time.perf_counter())
    first = max(1, int(WARM_UP * len(ends)))
    return (ends[-1] - ends[first - 1]) / (len(ends) - first)


def run(rank, spec, times, rounds, meeting):
    torch.manual_seed(0)
    if spec["threads"]:
        torch.set_num_threads(spec["threads"])
    if spec["ranks"] > 1:
        dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=spec["ranks"])
    if not times:
        train(spec, rank, spec["settings"])
    else:
        every = [spec["settings"], *({**spec["settings"], **change} for change in spec["changes"])]
        took_s = [[train(spec, rank, settings_of(one)) for one in every] for _ in range(rounds)]
        if rank == 0:
            Path(times).write_text(json.dumps(took_s), encoding="utf-8")
    if spec["ranks"] > 1:
        dist.destroy_process_group()


def settings_of(settings):
    """Without what torch refuses where there are no workers."""
    return settings if settings["num_workers"] else {"num_workers": 0}


def main():
    spec = json.loads(sys.argv[1])
    times, rounds = (sys.argv[2], int(sys.argv[3])) if len(sys.argv) > 2 else (None, 0)
    if spec["ranks"] == 1:
        run(0, spec, times, rounds, None)
        return
    with tempfile.TemporaryDirectory() as folder:
        arguments = (spec, times, rounds, f"{folder}/meeting")
        mp.spawn(run, arguments, nprocs=spec["ranks"])


if __name__ == "__main__":
    main()
