"""torch_geometric's DataLoader, which collates graphs."""

import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from training import BATCH, SAMPLES, make, train


class Graphs(torch.utils.data.Dataset):
    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return Data(x=make(index).reshape(1, 4), edge_index=torch.zeros(2, 1, dtype=torch.long))


loader = DataLoader(Graphs(), batch_size=BATCH, num_workers=2, shuffle=True)  # training
train(loader, lambda batch: batch.x)
