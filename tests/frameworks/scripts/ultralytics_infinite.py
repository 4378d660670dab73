"""ultralytics' InfiniteDataLoader, whose one iterator never ends."""

from training import BATCH, Slow, train
from ultralytics.data.build import InfiniteDataLoader

loader = InfiniteDataLoader(Slow(), batch_size=BATCH, num_workers=2, shuffle=True)  # training
train(loader)
