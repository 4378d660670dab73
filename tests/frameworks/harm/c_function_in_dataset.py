"""Reads each sample by a function written in C, in a worker."""

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Files(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return np.load("a.npy") + index


if __name__ == "__main__":
    np.save("a.npy", np.zeros(2))
    for batch in DataLoader(Files(), batch_size=8, num_workers=1):
        print(batch.sum().item())
