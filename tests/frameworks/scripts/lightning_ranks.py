"""Two ranks that Lightning starts by the strategy that is named: ddp runs this script again, ddp_spawn forks nothing and pickles."""

import logging
import sys
import time
import warnings

import lightning.pytorch as lightning
import stopwatch
import torch
from torch.utils.data import DataLoader, DistributedSampler
from training import BATCH, EPOCHS, SAMPLES, STEP_S, Slow

RANKS = 2
LAST = SAMPLES // RANKS // BATCH - 1

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class Timed:
    """A loader with a stopwatch around its next()."""

    def __init__(self, loader):
        self.loader = loader

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        stopwatch.loop()
        for index, batch in enumerate(self.loader):
            stopwatch.got()
            yield batch
            if index != LAST:
                stopwatch.done()
        stopwatch.over()


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def train_dataloader(self):
        samples = Slow()
        return Timed(DataLoader(samples, batch_size=BATCH, sampler=DistributedSampler(samples)))

    def training_step(self, batch, _):
        time.sleep(STEP_S)
        return self.layer(batch).square().mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)

    def on_train_batch_end(self, _outputs, _batch, index):
        if index == LAST:  # Lightning asks for no batch after it
            stopwatch.done()

    def on_fit_end(self):
        stopwatch.write(self.trainer.global_rank)


if __name__ == "__main__":
    trainer = lightning.Trainer(
        accelerator="cpu",
        devices=RANKS,
        strategy=sys.argv[1],
        use_distributed_sampler=False,
        max_epochs=EPOCHS,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Model())
