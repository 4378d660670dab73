"""A data set of Hugging Face's that is indexed, many rows at once."""

import datasets
from torch.utils.data import DataLoader
from training import BATCH, SAMPLES, make, train

rows = datasets.Dataset.from_dict({"index": list(range(SAMPLES))})
rows = rows.with_transform(lambda row: {"x": [make(index) for index in row["index"]]})
loader = DataLoader(rows, batch_size=BATCH, shuffle=True)  # training
train(loader, lambda batch: batch["x"])
