"""torchdata's StatefulDataLoader, with workers for training and without for evaluation."""

from torchdata.stateful_dataloader import StatefulDataLoader
from training import BATCH, Slow, evaluate, train

loader = StatefulDataLoader(Slow(), batch_size=BATCH, num_workers=2, shuffle=True)  # training
testing = StatefulDataLoader(Slow(), batch_size=BATCH)  # evaluation
train(loader)
evaluate(testing)
