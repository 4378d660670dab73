"""A data set of Hugging Face's that is iterated, a shard a worker."""

import datasets
from torch.utils.data import DataLoader
from training import BATCH, SAMPLES, make, train

rows = datasets.Dataset.from_dict({"index": list(range(SAMPLES))}).to_iterable_dataset(num_shards=2)
rows = rows.map(lambda row: {"x": make(row["index"])}).with_format("torch")
loader = DataLoader(rows, batch_size=BATCH, num_workers=2)  # training
train(loader, lambda batch: batch["x"])
