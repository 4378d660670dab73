"""What kind of work stacks do, and where in the script's own source."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from loaderdoctor.analyse.code import code_of
from loaderdoctor.analyse.known_work import is_library, kind_of, own_frame
from loaderdoctor.values import Measured, Missing

LIB = "/home/user/venv/lib/python3.11/site-packages"
PIL, FILE, HERE = f"{LIB}/PIL/Image.py", f"{LIB}/PIL/ImageFile.py", "/home/user/data.py"
ITEM = ["Photos.__getitem__", HERE, 41]

STACKS = [
    ("decode", [["ImageFile.load", FILE, 9], ["Image.convert", PIL, 3], ITEM], "a lazy image is decoded where it is needed"),
    ("read", [["JpegImageFile._open", FILE, 5], ["open", PIL, 3], ITEM], "opening reads a header"),
    ("read", [["ZipFile.__init__", "/usr/lib/python3.11/zipfile.py", 5], ITEM], "opening reads a directory"),
    ("read", [["Path.read_text", "/usr/lib/python3.11/pathlib.py", 5], ITEM], "reading"),
    ("decode", [["ZipExtFile.read", "/usr/lib/python3.11/zipfile.py", 5], ITEM], "a compressed member"),
    ("decode", [["decompress", "/usr/lib/python3.11/gzip.py", 5], ITEM], "compressed bytes"),
    ("decode", [["cv2.imdecode", HERE, 41], ITEM], "a function written in C"),
    ("resize", [["Image.resize", PIL, 7], ITEM], "shrinking"),
    ("transform", [["Image.rotate", PIL, 7], ITEM], "Pillow's transforms"),
    ("transform", [["mine", HERE, 3], ["Compose.__call__", f"{LIB}/torchvision/transforms/transforms.py", 7], ITEM], "a transform of one's own"),
    ("decode", [["ImageFile.load", FILE, 9], ["Compose.__call__", f"{LIB}/torchvision/transforms/transforms.py", 7], ITEM], "a lazy image in a transform"),
    ("transform", [["elastic", HERE, 3], ITEM], "a name that says it"),
    ("own", [["AugmentedPhotos.__getitem__", HERE, 3]], "a dataset's name says what it holds"),
    ("tokenize", [["merge", HERE, 8], ["BytePairTokenizer.encode", HERE, 60], ITEM], "everything in a tokenizer"),
    ("own", [["TokenizedText.__getitem__", HERE, 60]], "ids that are stored"),
    ("audio", [["resample", f"{LIB}/librosa/core/audio.py", 8], ITEM], "audio"),
    ("video", [["VideoReader.get_batch", f"{LIB}/decord/video_reader.py", 8], ITEM], "video"),
    ("python", [["_iLocIndexer._getitem_axis", f"{LIB}/pandas/core/indexing.py", 8], ITEM], "pandas"),
    ("python", [["deepcopy", "/usr/lib/python3.11/copy.py", 8], ITEM], "copies"),
    ("collate", [["pad", HERE, 8]], "the loader's collate function"),
    ("collate", [["collate", f"{LIB}/torch/utils/data/_utils/collate.py", 8]], "torch's"),
    ("tokenize", [["encode", f"{LIB}/transformers/tokenization_utils_base.py", 8], ["pad", HERE, 9]], "tokenizing in it"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "frames", "why"), STACKS, ids=[f"{kind}: {why}" for kind, _, why in STACKS])
def test_kind(kind, frames, why):
    assert kind_of([tuple(frame) for frame in frames], "__main__.pad") == kind, why


@pytest.mark.parametrize(
    ("file", "library"),
    [
        (f"{LIB}/torch/nn.py", True),
        ("/usr/lib/python3/dist-packages/PIL/Image.py", True),
        ("/usr/lib/python3.12/json/decoder.py", True),
        ("<frozen importlib._bootstrap>", True),
        ("/home/user/library/data.py", False),
        ("/home/user/lib/data.py", False),
    ],
)
def test_is_library(file, library):
    assert is_library(file) is library


@pytest.mark.parametrize(
    ("frames", "kind", "expected"),
    [
        ([["ImageFile.load", FILE, 9], ["Image.convert", PIL, 3], ITEM], "decode", (ITEM, "Image.convert")),
        ([["cv2.imdecode", HERE, 41], ITEM], "decode", (ITEM, "cv2.imdecode")),
        ([["f.<locals>.<listcomp>", HERE, 7], ["f", HERE, 7], ITEM], "own", (["f", HERE, 7], "")),
        ([["merge", HERE, 8], ["Tokenizer.encode", HERE, 60], ITEM], "tokenize", (["Tokenizer.encode", HERE, 60], "")),
        ([["TensorDataset.__getitem__", f"{LIB}/torch/utils/data/dataset.py", 2]], "own", None),
    ],
    ids=["library", "written in C", "comprehension", "whole work", "no code of the script"],
)
def test_place(frames, kind, expected):
    found = own_frame([tuple(frame) for frame in frames], kind)
    assert found == (None if expected is None else (tuple(expected[0]), expected[1]))


def stacks(*rows):
    return pd.DataFrame(
        [(json.dumps(frames), ms * 10**6, 10) for frames, ms in rows], columns=["stack_text", "cpu_ns", "samples"]
    )


def stages(*rows):
    names = ["stage", "pixels_in", "pixels_out", "cpu_ns", "interpreted_ns"]
    return pd.DataFrame(list(rows), columns=names)


OWN = [["Photos.__getitem__", HERE, 44]]
DECODE = STACKS[0][1]


def test_own_code_is_split_by_what_the_profile_saw_of_the_interpreter():
    code = code_of(stacks((DECODE, 20), (OWN, 80)), stages(("", 0, 0, 100, 80)), "")
    shares = [code.decode_share.value, code.python_share.value, code.array_share.value]
    assert shares == pytest.approx([0.2, 0.64, 0.16])
    assert code.python_share.low <= 0.6
    assert code.python_share.high >= 0.8
    assert [(place.kind, place.site.line, place.calls) for place in code.places] == [
        ("own", 44, ""),
        ("decode", 41, "Image.convert"),
    ]
    assert code.place("decode").share.value == pytest.approx(0.2)
    assert code.place("video") is None


@pytest.mark.parametrize("rows", [[], [("", 0, 0, 0, 0)]], ids=["none", "older"])
def test_without_a_profile_own_code_is_not_told_apart(rows):
    code = code_of(stacks((DECODE, 50), (OWN, 50)), stages(*rows), "")
    assert isinstance(code.decode_share, Measured)
    assert isinstance(code.python_share, Missing)
    assert isinstance(code.array_share, Missing)


def test_pixels_decoded_over_pixels_left():
    rows = [("decode", 0, 3_000_000, 0, 0), ("transform", 3_000_000, 50_000, 0, 0), ("transform", 0, 0, 0, 0)]
    assert code_of(stacks((DECODE, 50)), stages(*rows), "").oversize.value == pytest.approx(60)
    assert isinstance(code_of(stacks((DECODE, 50)), stages(rows[0]), "").oversize, Missing)


def test_a_few_samples_say_nothing():
    few = pd.DataFrame([(json.dumps(OWN), 10**6, 2)], columns=["stack_text", "cpu_ns", "samples"])
    assert isinstance(code_of(few, stages(), "").decode_share, Missing)
