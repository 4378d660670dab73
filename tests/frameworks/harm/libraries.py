"""What libraries do in a data set: reading, decoding, transforming, pickling and telling of themselves, a line each.

libraries.py NUM_WORKERS
"""

import copy
import inspect
import os
import pickle
import random
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

USES = {}


def use(function):
    USES[function.__name__] = function
    return function


def make_files():
    from PIL import Image

    pixels = np.arange(64 * 64 * 3, dtype=np.uint8).reshape(64, 64, 3)
    Image.fromarray(pixels).save("a.png")
    Path("folder/x").mkdir(parents=True)
    for path in ("a.jpg", "folder/x/1.jpg"):
        Image.fromarray(np.full((64, 64, 3), 90, np.uint8)).save(path)
    np.save("a.npy", np.arange(10))
    np.savez("a.npz", a=np.arange(5))
    np.savetxt("a.txt", np.ones((3, 3)))
    torch.save({"x": torch.ones(3)}, "a.pt")
    with zipfile.ZipFile("a.zip", "w") as archive:
        archive.writestr("m", b"hello" * 100)
    with tarfile.open("a.tar", "w") as archive:
        archive.add("a.png")


@use
def pil():
    from PIL import Image

    image = Image.open("a.png")
    image.load()
    pixels = np.asarray(Image.open("a.png").convert("RGB"))
    return pixels.sum(), len(pickle.dumps(image)) > 0, copy.copy(image).size


@use
def cv2_reads():
    import cv2

    decoded = cv2.imdecode(np.fromfile("a.png", np.uint8), cv2.IMREAD_COLOR)
    return cv2.imread("a.png").sum(), decoded.sum(), cv2.imread("nope.png") is None


@use
def cv2_bad_arguments():
    import cv2

    return cv2.imdecode("x", 1)


@use
def numpy_reads():
    loaded = np.load("a.npy").sum(), np.load("a.npz")["a"].sum(), np.load("a.npy", mmap_mode="r").sum()
    return *loaded, np.loadtxt("a.txt").sum(), np.genfromtxt("a.txt").sum(), np.fromfile("a.npy", np.uint8).sum()


@use
def numpy_misses():
    return np.fromfile("nope")


@use
def torch_loads():
    anything = torch.load("a.pt", weights_only=False, map_location="cpu")
    return [loaded["x"].sum().item() for loaded in (torch.load("a.pt"), anything, torch.load("a.pt", mmap=True))]


@use
def pandas_reads():
    import pandas as pd

    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    for kind in ("csv", "json", "parquet", "feather", "pickle"):
        getattr(frame, f"to_{kind}")(f"a.{kind}")
    frames = [getattr(pd, f"read_{kind}")(f"a.{kind}") for kind in ("csv", "json", "parquet", "feather", "pickle")]
    with pd.read_csv("a.csv", chunksize=1) as chunks:
        return [len(frame) for frame in frames], len(next(chunks)), len(pd.read_table("a.csv"))


@use
def pyarrow_reads():
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"a": list(range(10))}), "b.parquet")
    file = parquet.ParquetFile("b.parquet")
    tables = parquet.read_table("b.parquet"), file.read(), file.read_row_group(0)
    return [table.num_rows for table in tables], sum(batch.num_rows for batch in file.iter_batches())


@use
def h5py_reads():
    import h5py

    with h5py.File("a.h5", "w") as file:
        file["x"] = np.arange(20).reshape(4, 5)
    with h5py.File("a.h5") as file:
        rows = file["x"]
        return rows[1].sum(), rows[:].sum(), rows[..., 0].sum(), len(rows), rows[()].sum()


@use
def lmdb_reads():
    import lmdb

    with lmdb.open("a.lmdb", map_size=1 << 20) as database:
        with database.begin(write=True) as transaction:
            transaction.put(b"a", b"b")
        with database.begin() as transaction:
            return transaction.get(b"a")


@use
def zipfile_reads():
    with zipfile.ZipFile("a.zip") as archive:
        return len(archive.read("m")), len(archive.open("m").read()), len(archive.open("m").read(10))


@use
def tarfile_reads():
    with tarfile.open("a.tar") as archive, tarfile.open("a.tar", "r|") as stream:
        return [member.name for member in archive], len(archive.extractfile("a.png").read()), stream.next().name


@use
def soundfile_reads():
    import soundfile

    soundfile.write("a.wav", np.zeros(1000), 8000)
    blocks = [block.shape for block in soundfile.blocks("a.wav", 500)]
    with soundfile.SoundFile("a.wav") as file:
        return len(soundfile.read("a.wav")[0]), file.read(10).shape, blocks


@use
def librosa_loads():
    import librosa
    import soundfile

    soundfile.write("b.wav", np.zeros(8000), 8000)
    wave, rate = librosa.load("b.wav", sr=4000)
    return len(wave), rate, len(librosa.resample(np.zeros(100), orig_sr=100, target_sr=50))


@use
def torchvision_reads():
    from torchvision import io as files

    jpeg, png = files.read_file("a.jpg"), files.read_file("a.png")
    decoded = files.decode_image(jpeg), files.decode_jpeg(jpeg), files.decode_png(png), files.read_image("a.png")
    return [image.sum().item() for image in decoded]


@use
def torchvision_scripts():
    from torchvision import io as files
    from torchvision import transforms

    crop = torch.nn.Sequential(transforms.CenterCrop(8), transforms.Normalize([0.5] * 3, [0.5] * 3))
    return torch.jit.script(files.read_file)("a.jpg").numel(), torch.jit.script(crop)(
        torch.ones(3, 16, 16)
    ).sum().item()


@use
def torchvision_transforms():
    from PIL import Image
    from torchvision import transforms
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import v2

    torch.manual_seed(0)
    image = Image.open("a.png").convert("RGB")
    old = transforms.Compose([transforms.Resize(32), transforms.RandomCrop(16), transforms.ToTensor()])
    new = v2.Compose([v2.ToImage(), v2.RandomHorizontalFlip(), v2.ToDtype(torch.float32, scale=True)])
    return old(image).sum().item(), new(image).sum().item(), repr(old), repr(new), ImageFolder("folder")[0][0].size


@use
def albumentations_transforms():
    import albumentations

    pixels = np.arange(64 * 64 * 3, dtype=np.uint8).reshape(64, 64, 3)
    flip = albumentations.HorizontalFlip(p=1)
    both = albumentations.Compose([flip, albumentations.RandomCrop(16, 16, p=1)], seed=0)
    return both(image=pixels)["image"].sum(), str(albumentations.to_dict(both)), repr(flip)


@use
def tokenizers_encode():
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))  # noqa: S106 - no password
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]")  # noqa: S106 - no password
    copied = pickle.loads(pickle.dumps(fast))  # noqa: S301 - our own
    return words.encode("a b").ids, fast(["a b", "a"])["input_ids"], copied("a")["input_ids"]


@use
def tifffile_reads():
    import tifffile

    tifffile.imwrite("a.tif", np.ones((8, 8), np.uint8))
    return tifffile.imread("a.tif").sum()


@use
def imageio_and_skimage_read():
    import imageio.v3 as imageio
    from skimage import io as pictures
    from skimage import transform

    read = pictures.imread("a.png")
    return imageio.imread("a.png").sum(), read.sum(), round(float(transform.resize(read, (8, 8)).sum()), 2)


@use
def zarr_reads():
    import zarr

    rows = zarr.open("a.zarr", mode="w", shape=(4, 4), chunks=(2, 2), dtype="i4")
    rows[:] = 3
    return int(rows[:].sum())


@use
def nibabel_reads():
    import nibabel

    nibabel.save(nibabel.Nifti1Image(np.ones((2, 2, 2)), np.eye(4)), "a.nii.gz")
    return nibabel.load("a.nii.gz").get_fdata().sum()


@use
def monai_transforms():
    from monai.transforms import Compose, EnsureChannelFirst, ScaleIntensity

    both = Compose([EnsureChannelFirst(channel_dim="no_channel"), ScaleIntensity()])
    return float(both(np.arange(16.0).reshape(4, 4)).sum())


@use
def polars_reads():
    import polars as pl

    pl.DataFrame({"a": [1]}).write_parquet("c.parquet")
    return pl.read_parquet("c.parquet").height


@use
def functions_tell_of_themselves():
    import cv2
    import pandas as pd

    functions = np.load, np.fromfile, cv2.imread, pd.read_csv, torch.load
    kept = [pickle.loads(pickle.dumps(function)) is function for function in functions]  # noqa: S301 - our own
    names = [(function.__name__, getattr(function, "__module__", None)) for function in functions]
    return names, kept, isinstance(np.fromfile, type(len)), str(inspect.signature(pd.read_csv))


class Uses(Dataset):
    """Each use a sample; an error of a library is what it says."""

    def __len__(self):
        return len(USES)

    def __getitem__(self, index):
        name, function = list(USES.items())[index]
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002 - the global one is what transforms may draw from
        try:
            return name, repr(function())
        except Exception as error:  # noqa: BLE001 - whatever it is, it must be the same
            return name, f"{type(error).__name__}: {str(error).splitlines()[0]}"


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    make_files()
    for said in DataLoader(Uses(), batch_size=None, num_workers=int(sys.argv[1])):
        print(*said)
