"""A training that is told to stop: it says each time, saves, and ends at the second time, or at a signal that it leaves alone."""

import signal
import sys

import torch
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    if sys.argv[2:] == ["saves"]:
        signal.signal(signal.SIGTERM, lambda *_: (print("saved", flush=True), sys.exit(3)))
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-6)
    told = 0
    while told < 2:
        try:
            for step, (batch,) in enumerate(
                DataLoader(TensorDataset(torch.ones(10**7, 1)), batch_size=1, num_workers=int(sys.argv[1]))
            ):
                model(batch).sum().backward()
                optimizer.step()
                if step == 30:
                    print("training", flush=True)
        except KeyboardInterrupt:
            told += 1
            print("told to stop", flush=True)
    sys.exit(4)
