"""accelerate builds the loader anew, as one that the first process reads for all."""

import training
from accelerate import Accelerator, DataLoaderConfiguration
from torch.utils.data import DataLoader

accelerator = Accelerator(cpu=True, dataloader_config=DataLoaderConfiguration(dispatch_batches=True))
loader = DataLoader(training.Slow(), batch_size=training.BATCH)
loader = accelerator.prepare(loader)  # training
training.train(loader)
