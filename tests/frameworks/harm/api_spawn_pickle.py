"""A data set that holds `torch.load`, as torchvision's DatasetFolder may, goes to a spawned worker.

api_spawn_pickle.py with|without
"""

import sys

import torch
from torch.utils.data import DataLoader, Dataset

import loaderdoctor


class Files(Dataset):
    def __init__(self):
        self.loader = torch.load

    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.full((2,), index), self.loader is torch.load


def train():
    for rows, same in DataLoader(Files(), batch_size=8, num_workers=1, multiprocessing_context="spawn"):
        print(rows.sum().item(), same.all().item())


if __name__ == "__main__":
    if sys.argv[1] == "with":
        with loaderdoctor.profile("run", formats=("json",)):
            train()
    else:
        train()
