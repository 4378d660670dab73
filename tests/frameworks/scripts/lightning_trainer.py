"""Lightning's Trainer holds the loop, and knows each loader's length."""

import logging
import time
import warnings

import lightning.pytorch as lightning
import stopwatch
import torch
from torch.utils.data import DataLoader
from training import BATCH, EPOCHS, SAMPLES, STEP_S, Slow

LAST = SAMPLES // BATCH - 1

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

    def training_step(self, batch, _):
        time.sleep(STEP_S)
        return self.layer(batch).square().mean()

    def validation_step(self, batch, _):
        self.layer(batch)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)

    def on_train_batch_end(self, _outputs, _batch, index):
        if index == LAST:  # Lightning asks for no batch after it
            stopwatch.done()

    on_validation_batch_end = on_train_batch_end


model = Model()
trainer = lightning.Trainer(
    accelerator="cpu",
    max_epochs=EPOCHS,
    num_sanity_val_steps=0,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
loader = DataLoader(Slow(), batch_size=BATCH, num_workers=2, shuffle=True)  # training
testing = DataLoader(Slow(), batch_size=BATCH)  # evaluation
trainer.fit(model, Timed(loader), Timed(testing))
print(f"{model.layer.weight.sum().item():.6f}")
