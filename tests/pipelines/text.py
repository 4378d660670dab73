"""A language model on an endless stream of lines, split over two workers that are fast enough."""

import itertools
import random

import stopwatch
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

STEPS = 60
WORDS = ["the", "of", "a", "to", "in", "is", "that", "it", "was", "for", "on", "are", "with", "as", "his", "they", "be"]
VOCABULARY = {word: number for number, word in enumerate(WORDS)}


class Lines(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        rng = random.Random(worker.id)
        while True:
            line = " ".join(rng.choices(WORDS, k=49))
            yield torch.tensor([VOCABULARY[word] for word in line.split()])


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(len(WORDS), 96)
        self.recurrent = nn.GRU(96, 448, batch_first=True)
        self.head = nn.Linear(448, len(WORDS))

    def forward(self, tokens):
        return self.head(self.recurrent(self.embed(tokens))[0])


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loader = DataLoader(Lines(), batch_size=24, num_workers=2, prefetch_factor=4)
    stopwatch.loop()
    for step, tokens in enumerate(itertools.islice(loader, STEPS)):
        stopwatch.got()
        guess = model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(guess.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step}: loss {loss.item():.4f}")
        stopwatch.done()


if __name__ == "__main__":
    main()
