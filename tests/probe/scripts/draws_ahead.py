"""A sampler that draws a whole epoch in its __iter__, over loaders with and without workers, kept and not."""

import time

import torch
from torch.utils.data import DataLoader, TensorDataset


class Ahead:
    def __len__(self):
        return 2

    def __iter__(self):
        time.sleep(0.05)
        return iter([[0, 1], [2, 3]])


def main():
    data = TensorDataset(torch.arange(4.0))
    for settings in ({}, {"num_workers": 1}, {"num_workers": 1, "persistent_workers": True}):
        loader = DataLoader(data, batch_sampler=Ahead(), **settings)
        for _ in range(2):
            for _ in loader:
                pass


if __name__ == "__main__":
    main()
