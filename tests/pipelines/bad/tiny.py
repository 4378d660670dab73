"""A training too small to matter, for scripts whose point is something else."""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 80

    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.full((4,), float(index))


def train(steps=30, loader_type=DataLoader):
    """Trains for `steps` steps of 4 samples; returns the number of samples seen."""
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    seen = 0
    while True:
        for numbers in loader_type(Numbers(), batch_size=4):
            model(numbers).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            seen += len(numbers)
            if seen == 4 * steps:
                return seen
