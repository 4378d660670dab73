"""litdata's StreamingDataLoader over chunks that the script writes first."""

import contextlib
import sys

import litdata
from training import BATCH, SAMPLES, make, train


def raw(index):
    return {"index": index}


class Rows(litdata.StreamingDataset):
    def __getitem__(self, index):
        return make(super().__getitem__(index)["index"])


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):  # it tells how long it took
        litdata.optimize(raw, list(range(SAMPLES)), output_dir="rows", num_workers=1, chunk_size=120)
    rows = Rows("rows")
    loader = litdata.StreamingDataLoader(rows, batch_size=BATCH, num_workers=2, persistent_workers=True)  # training
    train(loader)
