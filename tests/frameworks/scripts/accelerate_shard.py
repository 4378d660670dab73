"""accelerate builds the loader anew, as one that each process has its part of."""

import training
from accelerate import Accelerator
from torch.utils.data import DataLoader

accelerator = Accelerator(cpu=True)
loader = DataLoader(training.Slow(), batch_size=training.BATCH, num_workers=2, shuffle=True)
loader = accelerator.prepare(loader)  # training
training.train(loader)
