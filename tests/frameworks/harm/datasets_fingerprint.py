"""Fingerprints of functions that use functions of libraries, by which datasets finds what it has computed before."""

import pandas as pd
import torch
from datasets.fingerprint import Hasher
from PIL import Image
from pyarrow import parquet
from torch.utils.data import DataLoader, TensorDataset

read_table, read_csv, tolist = parquet.read_table, pd.read_csv, torch.Tensor.tolist


def by_module(row):
    return parquet.read_table(row)


def opened(row):
    return Image.open(row)


def by_name(row):
    return read_table(row)


def of_tensor(row):
    return torch.Tensor.tolist(row)


def of_tensor_by_name(row):
    return tolist(row)


def frames(row):
    return read_csv(row)


for _ in DataLoader(TensorDataset(torch.zeros(64, 7)), batch_size=8):
    pass
for function in (by_module, opened, by_name, of_tensor, of_tensor_by_name, frames):
    print(function.__name__, Hasher.hash(function))
