"""Trains over loaders of every kind, and prints digests of all that it saw and became.

digests.py START_METHOD
"""

import hashlib
import random
import sys

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, get_worker_info

SEED = 3


class Noisy(Dataset):
    """Each sample draws from every generator there is."""

    def __len__(self):
        return 24

    def __getitem__(self, index):
        drawn = torch.rand(2) + random.random() + float(np.random.rand())  # noqa: NPY002 - the global ones
        return {"x": drawn + index, "y": [torch.tensor(index), str(index)]}


class NoisyTogether(Noisy):
    def __getitems__(self, indices):
        return [self[index] for index in indices]


class NoisyStream(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        for index in range(first, 22, step):
            yield torch.rand(3) + index + random.random()


def bytes_of(value):
    if isinstance(value, dict):
        return b"".join(bytes_of(part) for part in value.values())
    if isinstance(value, (list, tuple)):
        return b"".join(map(bytes_of, value))
    return value.numpy().tobytes() if isinstance(value, torch.Tensor) else str(value).encode()


def trained(loader, epochs):
    torch.manual_seed(SEED)
    random.seed(SEED)
    np.random.seed(SEED)  # noqa: NPY002 - the global one
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters())
    seen = hashlib.sha256()
    for _ in range(epochs):
        for batch in loader:
            seen.update(bytes_of(batch))
            x = batch["x"] if isinstance(batch, dict) else batch[..., :2]
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
    for state in (torch.get_rng_state().numpy().tobytes(), repr(random.getstate()), repr(np.random.get_state())):  # noqa: NPY002 - the global one
        seen.update(state if isinstance(state, bytes) else state.encode())
    seen.update(bytes_of(next(model.parameters()).detach()))
    return seen.hexdigest()


def loaders(method):
    for name, dataset in (("map", Noisy()), ("together", NoisyTogether()), ("stream", NoisyStream())):
        for settings in (
            {"num_workers": 0},
            {"num_workers": 2, "multiprocessing_context": method},
            {"num_workers": 2, "multiprocessing_context": method, "persistent_workers": True},
        ):
            if name == "together" and settings["num_workers"]:
                continue  # the fetch is the same in a worker; starting one is what takes long
            shuffle = {} if name == "stream" else {"shuffle": True}
            yield f"{name} {settings}", DataLoader(dataset, batch_size=5, **settings, **shuffle)
    yield "subset", DataLoader(Subset(Noisy(), range(3, 17)), batch_size=4, drop_last=True)


if __name__ == "__main__":
    for name, loader in loaders(sys.argv[1]):
        print(name, trained(loader, epochs=2 if sys.argv[1] == "fork" or loader.persistent_workers else 1))
