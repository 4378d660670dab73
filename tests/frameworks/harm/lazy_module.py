"""Moves a module whose parameters are not there yet, after a look at one batch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(64, 7), torch.randn(64, 1)), batch_size=8)
x, _ = next(iter(loader))
model = nn.Sequential(nn.LazyLinear(4), nn.Linear(4, 1))
model.to("cpu", torch.float32)
model.to(torch.float64)
print(model(x.double()).sum().item())
