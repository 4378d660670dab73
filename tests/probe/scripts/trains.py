"""A small training over every kind of loader."""

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

SLOW = 5  # the sample that takes longest


class Numbers(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        if index == SLOW:
            torch.randn(800, 800).inverse()
        return torch.full((3,), float(index)), index


class Together(Numbers):
    def __getitems__(self, indices):
        return [self[index] for index in indices]


class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(10))


class Mine(DataLoader):
    def __init__(self, dataset, size):
        super().__init__(dataset, batch_size=size)


def train(loader, epochs=2):
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(epochs):
        for x, _y in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()


if __name__ == "__main__":
    train(DataLoader(Numbers(), batch_size=4))
    train(DataLoader(Numbers(), batch_size=4, num_workers=2))
    train(DataLoader(Numbers(), batch_size=4, num_workers=2, persistent_workers=True))
    train(DataLoader(Together(), batch_size=4))
    with torch.no_grad():
        for _ in Mine(Numbers(), 6):
            for _ in DataLoader(Stream(), batch_size=4, num_workers=2, prefetch_factor=3):
                pass
