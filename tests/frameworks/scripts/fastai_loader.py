"""fastai's own DataLoader, which has torch's iterators but is none of torch's loaders."""

from fastai.data.load import DataLoader
from training import BATCH, Slow, train

loader = DataLoader(Slow(), bs=BATCH, num_workers=2, shuffle=False)
train(loader)
