"""Which functions of which libraries are stages.

A name is `stage:what`; the stages are those of report.json (read, decode, transform).  Functions that are absent in the
installed version are passed over.  Nothing here is replaced: a profiled batch knows them as they are called.
"""

from __future__ import annotations

# module -> (attribute path, stage): Python functions and methods, and functions and methods written in C.
FUNCTIONS: dict[str, tuple[tuple[str, str], ...]] = {
    "PIL.Image": (  # open() reads the header only: PIL reads and decodes in load()
        ("open", "read"),
        ("Image.resize", "transform"),
    ),
    "PIL.ImageFile": (("ImageFile.load", "decode"),),
    "cv2": (("imread", "decode"), ("imdecode", "decode")),
    "numpy": (("load", "read"), ("fromfile", "read"), ("loadtxt", "read"), ("genfromtxt", "read")),
    "torch.serialization": (("load", "read"),),
    "pandas": (
        ("read_csv", "read"),
        ("read_table", "read"),
        ("read_json", "read"),
        ("read_parquet", "read"),
        ("read_feather", "read"),
        ("read_pickle", "read"),
        ("read_hdf", "read"),
    ),
    "pyarrow.parquet": (("read_table", "read"),),
    "pyarrow.parquet.core": (
        ("read_table", "read"),
        ("ParquetFile.read", "read"),
        ("ParquetFile.read_row_group", "read"),
    ),
    "h5py._hl.dataset": (("Dataset.__getitem__", "read"),),
    "lmdb": (("Transaction.get", "read"),),
    "zipfile": (("ZipFile.read", "read"), ("ZipExtFile.read", "read")),
    "tarfile": (("TarFile.next", "read"), ("_FileInFile.read", "read")),
    "torchaudio": (("load", "decode"),),
    "torchaudio.functional": (("resample", "transform"),),
    "soundfile": (("read", "decode"), ("SoundFile.read", "decode")),
    "librosa.core.audio": (("load", "decode"), ("resample", "transform")),
    "decord.video_reader": (("VideoReader.__getitem__", "decode"), ("VideoReader.get_batch", "decode")),
    "torchvision.io.image": (
        ("read_file", "read"),
        ("read_image", "decode"),
        ("decode_image", "decode"),
        ("decode_jpeg", "decode"),
        ("decode_png", "decode"),
        ("decode_webp", "decode"),
    ),
    "torchvision.io.video": (("read_video", "decode"),),
    "albumentations.core.transforms_interface": (("BasicTransform.__call__", "transform"),),
    "transformers.tokenization_utils_base": (("PreTrainedTokenizerBase.__call__", "transform"),),
    "tokenizers": (("Tokenizer.encode", "transform"), ("Tokenizer.encode_batch", "transform")),
}

# module -> methods that call one transform after the other: each such call is a stage.
CONTAINERS: dict[str, tuple[str, ...]] = {
    "torchvision.transforms.transforms": ("Compose.__call__",),
    "torchvision.transforms.v2._container": ("Compose.forward",),
}
