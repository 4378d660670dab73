"""webdataset's WebLoader over shards, batches made by the data set."""

import io
import tarfile

import webdataset
from training import BATCH, SAMPLES, make, train

for shard in range(2):
    with tarfile.open(f"shard-{shard}.tar", "w") as tar:
        for index in range(shard, SAMPLES, 2):
            text = str(index).encode()
            info = tarfile.TarInfo(f"{index:04}.txt")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text))

rows = webdataset.WebDataset("shard-{0..1}.tar", shardshuffle=False).decode().to_tuple("txt")
rows = rows.map(lambda row: (make(int(row[0])),)).batched(BATCH)
loader = webdataset.WebLoader(rows, batch_size=None, num_workers=2)  # training
train(loader, lambda batch: batch[0])
