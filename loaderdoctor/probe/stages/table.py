"""Which functions of which libraries are stages.

A name is `stage:what`; the stages are those of report.json (read, decode, transform).  Functions that are absent in the
installed version are passed over.  Left out: `builtins.open` and types written in C or Rust (lmdb, tokenizers.Tokenizer),
whose methods cannot be replaced; their time shows as the sample's own and in the stacks.
"""

from __future__ import annotations

# module -> (attribute path, stage).  The attribute is wrapped as soon as the module has been imported, so that
# `from cv2 import imread` finds the wrapper.
FUNCTIONS: dict[str, tuple[tuple[str, str], ...]] = {
    "PIL.Image": (("open", "read"),),  # the header only: PIL reads and decodes in load()
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
    "pyarrow.parquet": (("read_table", "read"), ("ParquetFile.read", "read"), ("ParquetFile.read_row_group", "read")),
    "h5py._hl.dataset": (("Dataset.__getitem__", "read"),),
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
}

# The same for methods whose stage is named after the class of `self`.
METHODS_BY_CLASS: dict[str, tuple[tuple[str, str], ...]] = {
    "albumentations.core.transforms_interface": (("BasicTransform.__call__", "transform:{}"),),
    "transformers.tokenization_utils_base": (("PreTrainedTokenizerBase.__call__", "transform:tokenizer {}"),),
}
