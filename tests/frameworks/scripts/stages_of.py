"""Calls each function that the table of stages has of one library, in a data set, and prints what these functions are.

stages_of.py LIBRARY DIRECTORY
"""

import importlib
import io
import os
import pickle
import sys
import tarfile
import zipfile
from contextlib import suppress

import torch
from torch.utils.data import DataLoader, Dataset

BATCHES = 6  # the fifth of a process is profiled


class Calls(Dataset):
    """Every sample is made by all calls."""

    def __init__(self, calls):
        self.calls = calls

    def __len__(self):
        return BATCHES

    def __getitem__(self, index):
        for call in self.calls.values():
            call()
        return index


def of_pil():
    from PIL import Image

    Image.effect_noise((64, 48), 60).save("a.png")
    image = Image.open("a.png")
    return {
        "PIL.Image:open": lambda: Image.open("a.png"),
        "PIL.ImageFile:ImageFile.load": Image.open("a.png").load,
        "PIL.Image:Image.resize": lambda: image.resize((2, 2)),
    }


def of_cv2():
    import cv2
    import numpy as np

    cv2.imwrite("a.png", np.zeros((48, 64, 3), np.uint8))
    encoded = np.fromfile("a.png", np.uint8)
    return {"cv2:imread": lambda: cv2.imread("a.png"), "cv2:imdecode": lambda: cv2.imdecode(encoded, cv2.IMREAD_COLOR)}


def of_numpy():
    import numpy as np

    np.save("a.npy", np.arange(10))
    np.savetxt("a.txt", np.ones((3, 3)))
    return {
        "numpy:load": lambda: np.load("a.npy"),
        "numpy:fromfile": lambda: np.fromfile("a.npy", np.uint8),
        "numpy:loadtxt": lambda: np.loadtxt("a.txt"),
        "numpy:genfromtxt": lambda: np.genfromtxt("a.txt"),
    }


def of_torch():
    torch.save({"x": torch.ones(3)}, "a.pt")
    return {"torch.serialization:load": lambda: torch.load("a.pt")}


def of_pandas():
    import pandas as pd

    pd.DataFrame({"a": [1, 2]}).to_csv("a.csv")
    pd.DataFrame({"a": [1, 2]}).to_json("a.json")
    pd.DataFrame({"a": [1, 2]}).to_pickle("a.pickle")
    return {
        "pandas:read_csv": lambda: pd.read_csv("a.csv"),
        "pandas:read_table": lambda: pd.read_table("a.csv"),
        "pandas:read_json": lambda: pd.read_json("a.json"),
        "pandas:read_pickle": lambda: pd.read_pickle("a.pickle"),  # noqa: S301 - our own file
    }


def of_pandas_by_pyarrow():
    import pandas as pd

    pd.DataFrame({"a": [1, 2]}).to_parquet("a.parquet")
    pd.DataFrame({"a": [1, 2]}).to_feather("a.feather")
    return {
        "pandas:read_parquet": lambda: pd.read_parquet("a.parquet"),
        "pandas:read_feather": lambda: pd.read_feather("a.feather"),
    }


def of_pandas_by_tables():
    import pandas as pd

    pd.DataFrame({"a": [1, 2]}).to_hdf("a.h5", key="a")
    return {"pandas:read_hdf": lambda: pd.read_hdf("a.h5", "a")}


def of_pyarrow():
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"a": list(range(10))}), "b.parquet")
    return {
        "pyarrow.parquet:read_table": lambda: parquet.read_table("b.parquet"),
        "pyarrow.parquet.core:read_table": lambda: parquet.core.read_table("b.parquet"),
        "pyarrow.parquet.core:ParquetFile.read": lambda: parquet.ParquetFile("b.parquet").read(),
        "pyarrow.parquet.core:ParquetFile.read_row_group": lambda: parquet.ParquetFile("b.parquet").read_row_group(0),
    }


def of_h5py():
    import h5py
    import numpy as np

    with h5py.File("a.h5", "w") as file:
        file["x"] = np.arange(20)

    def read():
        with h5py.File("a.h5") as file:
            file["x"][3:9]

    return {"h5py._hl.dataset:Dataset.__getitem__": read}


def of_lmdb():
    import lmdb

    with lmdb.open("a.lmdb", map_size=1 << 20) as written, written.begin(write=True) as transaction:
        transaction.put(b"a", b"b")

    def get():
        with lmdb.open("a.lmdb", readonly=True, lock=False) as database, database.begin() as transaction:
            transaction.get(b"a")

    return {"lmdb:Transaction.get": get}


def of_zipfile():
    with zipfile.ZipFile("a.zip", "w") as archive:
        archive.writestr("a", b"hello" * 100)

    def whole():
        with zipfile.ZipFile("a.zip") as archive:
            archive.read("a")

    def piece():
        with zipfile.ZipFile("a.zip") as archive, archive.open("a") as file:
            file.read(10)

    return {"zipfile:ZipFile.read": whole, "zipfile:ZipExtFile.read": piece}


def of_tarfile():
    with tarfile.open("a.tar", "w") as archive:
        info = tarfile.TarInfo("a")
        info.size = 500
        archive.addfile(info, io.BytesIO(b"hello" * 100))

    def read():
        with tarfile.open("a.tar") as archive:
            archive.extractfile(archive.next()).read()

    return {"tarfile:TarFile.next": read, "tarfile:_FileInFile.read": read}


def of_torchaudio():
    import torchaudio

    wave = torch.zeros(1, 4000)

    def load():
        with suppress(ImportError):  # what it decodes with needs FFmpeg; without it, it is called all the same
            torchaudio.load("a.wav")

    return {
        "torchaudio:load": load,
        "torchaudio.functional:resample": lambda: torchaudio.functional.resample(wave, 8000, 4000),
    }


def of_soundfile():
    import soundfile

    soundfile.write("a.wav", [0.0] * 4000, 8000)

    def read():
        with soundfile.SoundFile("a.wav") as file:
            file.read(10)

    return {"soundfile:read": lambda: soundfile.read("a.wav"), "soundfile:SoundFile.read": read}


def of_librosa():
    import librosa
    import numpy as np
    import soundfile

    soundfile.write("a.wav", [0.0] * 4000, 8000)
    return {
        "librosa.core.audio:load": lambda: librosa.load("a.wav", sr=None),
        "librosa.core.audio:resample": lambda: librosa.resample(np.zeros(4000), orig_sr=8000, target_sr=4000),
    }


def of_decord():
    import cv2
    import decord
    import numpy as np

    video = cv2.VideoWriter("a.avi", cv2.VideoWriter_fourcc(*"MJPG"), 10, (64, 48))
    for _ in range(8):
        video.write(np.zeros((48, 64, 3), np.uint8))
    video.release()
    return {
        "decord.video_reader:VideoReader.__getitem__": lambda: decord.VideoReader("a.avi")[3],
        "decord.video_reader:VideoReader.get_batch": lambda: decord.VideoReader("a.avi").get_batch([1, 2]),
    }


def of_torchvision():
    from PIL import Image
    from torchvision import io as files
    from torchvision import transforms
    from torchvision.transforms import v2

    image = Image.effect_noise((64, 48), 60).convert("RGB")
    for kind in ("png", "jpeg", "webp"):
        image.save(f"a.{kind}")
    png, jpeg, webp = (files.read_file(f"a.{kind}") for kind in ("png", "jpeg", "webp"))
    old = transforms.Compose([transforms.CenterCrop(8), transforms.ToTensor()])
    new = v2.Compose([v2.CenterCrop(8), v2.ToImage()])
    return {
        "torchvision.io.image:read_file": lambda: files.read_file("a.png"),
        "torchvision.io.image:read_image": lambda: files.read_image("a.png"),
        "torchvision.io.image:decode_image": lambda: files.decode_image(png),
        "torchvision.io.image:decode_jpeg": lambda: files.decode_jpeg(jpeg),
        "torchvision.io.image:decode_png": lambda: files.decode_png(png),
        "torchvision.io.image:decode_webp": lambda: files.decode_webp(webp),
        "torchvision.transforms.transforms:Compose.__call__": lambda: old(image),
        "torchvision.transforms.v2._container:Compose.forward": lambda: new(image),
    }


def of_albumentations():
    import albumentations
    import numpy as np

    image = np.zeros((48, 64, 3), np.uint8)
    flip = albumentations.Compose([albumentations.HorizontalFlip(p=1)])
    return {"albumentations.core.transforms_interface:BasicTransform.__call__": lambda: flip(image=image)}


def words():
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))  # noqa: S106 - no password
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


def of_tokenizers():
    tokenizer = words()
    return {
        "tokenizers:Tokenizer.encode": lambda: tokenizer.encode("a b"),
        "tokenizers:Tokenizer.encode_batch": lambda: tokenizer.encode_batch(["a b", "a"]),
    }


def of_transformers():
    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words(), unk_token="[UNK]")  # noqa: S106 - no password
    return {"transformers.tokenization_utils_base:PreTrainedTokenizerBase.__call__": lambda: tokenizer(["a b", "a"])}


def function_of(name):
    module, _, path = name.partition(":")
    found = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def what_is(function):
    """All by which a library could tell it from another one."""
    try:
        pickled = pickle.dumps(function)
    except Exception as error:  # noqa: BLE001 - the same error, then
        pickled = type(error).__name__
    place = getattr(getattr(function, "__code__", None), "co_filename", None)
    return type(function).__name__, getattr(function, "__module__", None), function.__qualname__, place, pickled


if __name__ == "__main__":
    os.chdir(sys.argv[2])
    calls = globals()[f"of_{sys.argv[1]}"]()
    before = {name: function_of(name) for name in calls}
    for num_workers in (0, 1):
        print(sum(len(batch) for batch in DataLoader(Calls(calls), batch_size=1, num_workers=num_workers)))
    for name, function in before.items():
        print(name, function_of(name) is function, *what_is(function))
