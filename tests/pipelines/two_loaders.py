"""Training and evaluation in turns: two loaders, of which the one for evaluation is slow."""

import stopwatch
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

EPOCHS, SAMPLES, FEATURES = 4, 480, 256


class Smoothed(Dataset):
    """Each sample is smoothed anew whenever it is asked for."""

    def __init__(self, samples):
        self.samples = samples

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        sample, label = self.samples[index]
        for _ in range(60):
            sample = (sample.roll(1) + sample + sample.roll(-1)) / 3
        return sample, label


def make_samples(count, seed):
    rng = torch.Generator().manual_seed(seed)
    samples = torch.randn(count, FEATURES, generator=rng)
    return TensorDataset(samples, (samples.sum(1) > 0).long())


def evaluate(model, loader):
    right = 0
    model.eval()
    stopwatch.loop()
    with torch.no_grad():
        for samples, labels in loader:
            stopwatch.got()
            right += (model(samples).argmax(1) == labels).sum().item()
            stopwatch.done()
    model.train()
    return right


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(FEATURES, 2000), nn.ReLU(), nn.Linear(2000, 2000), nn.ReLU(), nn.Linear(2000, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    training = DataLoader(make_samples(SAMPLES, 1), batch_size=16, shuffle=True)
    testing = DataLoader(Smoothed(make_samples(160, 2)), batch_size=16)
    for epoch in range(EPOCHS):
        stopwatch.loop()
        for samples, labels in training:
            stopwatch.got()
            loss = nn.functional.cross_entropy(model(samples), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            stopwatch.done()
        print(f"epoch {epoch}: loss {loss.item():.4f}, {evaluate(model, testing)} of 160 right")


if __name__ == "__main__":
    main()
