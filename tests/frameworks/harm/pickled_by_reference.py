"""Sends functions of libraries to another process, by reference."""

import multiprocessing
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import torch
from pyarrow import parquet
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    Path("a.csv").write_text("a,b\n1,2\n", encoding="ascii")
    parquet.write_table(pa.table({"a": [1]}), "a.parquet")
    np.save("a.npy", np.zeros(2))
    torch.save({}, "a.pt")
    for _ in DataLoader(TensorDataset(torch.zeros(64)), batch_size=8):
        pass
    calls = (
        (pd.read_csv, "a.csv"),
        (pd.read_table, "a.csv"),
        (pd.read_json, "a.csv"),
        (pd.read_pickle, "a.csv"),
        (pd.read_parquet, "a.parquet"),
        (pd.read_feather, "x"),
        (pd.read_hdf, "x"),
        (parquet.read_table, "a.parquet"),
        (np.load, "a.npy"),
        (np.fromfile, "a.npy"),
        (np.loadtxt, "a.csv"),
        (torch.load, "a.pt"),
    )
    with multiprocessing.Pool(1) as pool:
        for function, argument in calls:
            try:
                print(function.__name__, len(pool.map(function, [argument])))
            except Exception as error:  # noqa: BLE001 - what a library says of a file that is none is compared, too
                print(function.__name__, type(error).__name__, str(error).splitlines()[0])
