"""Trains on samples that are waited for, as an unmodified script would: one rank or two, beside a loader that is left alone."""

import os
import sys
import time

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset

SAMPLE_S, COMPUTE_S = 0.003, 0.006


class Waits(Dataset):
    def __len__(self):
        return 200

    def __getitem__(self, index):
        time.sleep(SAMPLE_S)
        return torch.full((4,), float(index))


def train(rank, ranks):
    if ranks > 1:
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": os.environ["SLEEPERS_PORT"]}
        dist.init_process_group("gloo", rank=rank, world_size=ranks)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    loader = DataLoader(Waits(), batch_size=4, shuffle=True)
    held_out = DataLoader(Waits(), batch_size=50)
    for batch in loader:
        model(batch).sum().backward()
        if ranks > 1:
            dist.all_reduce(model.weight.grad)
        optimizer.step()
        optimizer.zero_grad()
        time.sleep(COMPUTE_S if os.environ.get("OMP_NUM_THREADS") == "1" else 5 * COMPUTE_S)
    with torch.no_grad():
        for batch in held_out:
            model(batch)
    print("trained with", held_out.num_workers, "workers beside it", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["ranks"]:
        torch.multiprocessing.spawn(train, args=(2,), nprocs=2)
    else:
        train(0, 1)
