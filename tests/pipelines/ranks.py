"""Two ranks that exchange gradients over gloo, each with a stopwatch of its own; the second one's data comes late.

`ranks.py` takes its ranks from a launcher; `ranks.py file` and `ranks.py tcp` start them by torch.multiprocessing and let them
meet there, with no rank in the environment; `ranks.py hogwild` trains one model in two processes that exchange nothing.
"""

import socket
import sys
import tempfile
import time

import stopwatch
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

RANKS, SAMPLES, BATCH, EPOCHS, STEP_S = 2, 320, 8, 3, 0.012
SAMPLE_S = (0.0005, 0.003)  # by rank


class Readings(Dataset):
    """Numbers from a store that takes its time."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.full((16,), index / SAMPLES), index % 3


def train(rank, net):
    torch.set_num_threads(1)
    own = Subset(Readings(SAMPLE_S[rank]), range(rank, SAMPLES, RANKS))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    loader = DataLoader(own, batch_size=BATCH)
    for _ in range(EPOCHS):
        stopwatch.loop()
        for readings, kinds in loader:
            stopwatch.got()
            time.sleep(STEP_S)
            loss = nn.functional.cross_entropy(net(readings), kinds)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            stopwatch.done()
        stopwatch.over()


def as_rank(rank, meeting=None):
    if meeting is None:
        dist.init_process_group("gloo")
    else:
        dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=RANKS)
    torch.manual_seed(0)
    train(dist.get_rank(), nn.parallel.DistributedDataParallel(nn.Linear(16, 3)))
    dist.destroy_process_group()
    if meeting is not None:
        stopwatch.write(rank)


def alone(number, net):
    train(number, net)
    stopwatch.write(number)


def main():
    how = next((word for word in sys.argv[1:] if not word.startswith("--")), "launched")  # DeepSpeed adds --local_rank
    if how == "launched":
        as_rank(None)
    elif how == "hogwild":
        net = nn.Linear(16, 3)
        net.share_memory()
        mp.spawn(alone, (net,), nprocs=RANKS)
    elif how == "tcp":
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        mp.spawn(as_rank, (f"tcp://127.0.0.1:{port}",), nprocs=RANKS)
    else:
        with tempfile.TemporaryDirectory() as folder:
            mp.spawn(as_rank, (f"file://{folder}/meeting",), nprocs=RANKS)


if __name__ == "__main__":
    main()
