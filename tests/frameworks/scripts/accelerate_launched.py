"""A training as accelerate's launcher starts it, one process or two that wait for each other in each step."""

import time

import stopwatch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from training import BATCH, EPOCHS, STEP_S, Slow, model, optimizer

accelerator = Accelerator(cpu=True)
loader = DataLoader(Slow(), batch_size=BATCH, num_workers=1)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)  # training
for _ in range(EPOCHS):
    stopwatch.loop()
    for batch in loader:
        stopwatch.got()
        time.sleep(STEP_S)
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()
        stopwatch.done()
    stopwatch.over()
    accelerator.print(f"{loss.item()!r}")
accelerator.end_training()
