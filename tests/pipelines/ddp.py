"""Data-parallel training on CPUs: torchrun starts two ranks that talk over gloo."""

import math

import stopwatch
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

EPOCHS, SAMPLES, FEATURES = 3, 768, 256


class Waves(Dataset):
    """Sums of sines, computed whenever they are asked for."""

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        phases = torch.linspace(0, 2 * math.pi, FEATURES)
        wave = torch.zeros(FEATURES)
        for harmonic in range(1, 60):
            wave += torch.sin(phases * harmonic + index) / harmonic
        return wave, index % 2


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    dataset = Waves()
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=16, sampler=sampler)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(FEATURES, 1600), nn.ReLU(), nn.Linear(1600, 2)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        stopwatch.loop()
        for waves, labels in loader:
            stopwatch.got()
            loss = nn.functional.cross_entropy(model(waves), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            stopwatch.done()
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: loss {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
