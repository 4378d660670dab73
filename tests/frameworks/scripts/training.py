"""What the scripts share: samples that take about 2 ms each, and a plain training loop with its own stopwatch.

How long each sample took goes to the file named by STOPWATCH with `.samples` added, a line a sample, from all processes.
"""

import os
import time

import stopwatch
import torch
from torch.utils.data import Dataset

BATCH, SAMPLES, EPOCHS, SAMPLE_S, STEP_S = 16, 480, 2, 0.002, 0.008

torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def dawdle():
    began = time.perf_counter()
    time.sleep(SAMPLE_S)
    if "STOPWATCH" in os.environ:
        with open(os.environ["STOPWATCH"] + ".samples", "a", encoding="ascii") as samples:  # noqa: PTH123 - often called
            samples.write(f"{time.perf_counter() - began}\n")


def make(index):
    dawdle()
    return torch.full((4,), index / SAMPLES)


class Slow(Dataset):
    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return make(index)


def step(batch):
    time.sleep(STEP_S)
    loss = model(batch.float()).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def train(loader, tensor_of=lambda batch: batch):
    for _ in range(EPOCHS):
        stopwatch.loop()
        for batch in loader:
            stopwatch.got()
            loss = step(tensor_of(batch))
            stopwatch.done()
        stopwatch.over()
        print(f"{loss:.6f}")


def evaluate(loader, tensor_of=lambda batch: batch):
    stopwatch.loop()
    with torch.no_grad():
        for batch in loader:
            stopwatch.got()
            model(tensor_of(batch))
            stopwatch.done()
    stopwatch.over()
