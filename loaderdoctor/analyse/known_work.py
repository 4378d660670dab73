"""Which kind of work a stack of calls does, told by the libraries in it, and by what the script calls its own functions."""

from __future__ import annotations

import re

DECODE, RESIZE, TRANSFORM, TOKENIZE, AUDIO, VIDEO, PYTHON, READ, COLLATE, OWN = (
    *("decode", "resize", "transform", "tokenize", "audio", "video", "python", "read", "collate"),
    "own",  # the script's own code, and calls that say nothing of their kind
)

Frame = tuple[str, str, int]  # function, file, line

_OF_DATASETS = (
    "__getitem__",
    "__getitems__",
    "__iter__",
    "__next__",
    "__init__",
)  # a class's name says what it holds, not does
_ANONYMOUS = re.compile(
    r"(\.<locals>\.<\w+>)+$"
)  # lambdas and comprehensions, which are part of the function around them
_LIBRARY = re.compile(r"/(site|dist)-packages/|/lib(64)?/python3(\.\d+)?/|^<|\.zip/|^/?[A-Z]:.*\\Lib\\", re.IGNORECASE)
_COLLATE_FILE = "torch/utils/data/_utils/collate.py"


def _pattern(*words: str) -> re.Pattern[str]:
    return re.compile("|".join(words))


# Work of which every call is a part, whatever it calls in turn: (kind, of files, of functions of the script and of others).
_WHOLE = (
    (
        TOKENIZE,
        _pattern(
            r"/transformers/(.*/)?tokenization_|/(tokenizers|sentencepiece|tiktoken|jieba|sacremoses|MeCab|fugashi)/",
            r"/nltk/tokenize/|/spacy/tokenizer|/torchtext/(data|transforms)",
        ),
        re.compile(r"tokeni[sz]|byte_?pair|(\b|_)bpe(\b|_)|word_?piece|sentence_?piece", re.IGNORECASE),
    ),
    (
        VIDEO,
        _pattern(
            r"/(decord|av|torchcodec|pims|pyav|moviepy)/|/torchvision/io/(video|_video)|/imageio(_ffmpeg|/plugins/(ffmpeg|pyav))"
        ),
        re.compile(r"\bcv2\.VideoCapture|VideoCapture\.(read|grab|retrieve)|\bVideoReader\b|VideoDecoder\b"),
    ),
    (
        AUDIO,
        _pattern(
            r"/(torchaudio|librosa|resampy|soxr|audioread|pydub|audiomentations|soundfile|pyworld|pyrubberband)[/.]",
            r"/soundfile\.py$|/scipy/signal/|/scipy/io/wavfile|/wave\.py$",
        ),
        re.compile(r"spectrogram|(\b|_)i?stft(\b|_)|(\b|_)mfcc|mel_?(bank|filter)|(\b|_)resample(\b|_)", re.IGNORECASE),
    ),
)
# Work that the innermost known call does.  Only what a library is for is named; where it is used says nothing.
_INNERMOST = (
    (
        DECODE,
        _pattern(
            r"/torchvision/io/image\.py$",
            r"/(imageio|tifffile|rawpy|pillow_heif|simplejpeg|turbojpeg|nibabel|pydicom|imagecodecs|OpenEXR)[/.]|/skimage/io/",
            r"/(gzip|bz2|lzma|_compression)\.py$|/compression/",
        ),
        re.compile(
            r"^\w*ImageFile\.load|^ZipExtFile\.|"  # what opens them reads headers and directories only
            r"\bcv2\.(imdecode|imread)|\b_?(zlib|lzma|bz2)\.|(\b|_)im(decode|read)(\b|_)|decode_(jpeg|png|image|webp)"
        ),
    ),
    (
        RESIZE,
        _pattern(r"/skimage/transform/_warps\.py$"),
        re.compile(r"\bcv2\.resize\b|^Image\.(resize|thumbnail|reduce)$|^resize$"),
    ),
    (
        TRANSFORM,
        _pattern(
            r"/PIL/(ImageFilter|ImageEnhance|ImageOps|ImageChops|ImageTransform)\.py$|/torchvision/transforms/",
            r"/(albumentations|albucore|imgaug|kornia|monai|torchio|Augmentor|volumentations|batchgenerators)/",
            r"/scipy/(ndimage|interpolate)/|/skimage/(transform|filters|exposure|util|morphology|restoration)/|/timm/data/",
        ),
        re.compile(
            r"^Image\.(rotate|transform|__transformer|filter|transpose|paste|point|effect_\w+|quantize)$"
            r"|\bcv2\.(warp|remap|GaussianBlur|blur|filter2D|flip|rotate|copyMakeBorder|cvtColor|addWeighted)"
            r"|augment|(\b|_)(jitter|distort|elastic|cutout|mixup|cutmix|deform|flip|blur|sharpen|random_\w+)(\b|_)"
        ),
    ),
    (
        PYTHON,
        _pattern(
            r"/(pandas|yaml|bs4|dateutil|xmltodict|pydantic)/|/(json|xml|csv|copy|_strptime|configparser|ast|html)(/\w+)*\.py$"
        ),
        re.compile(r"\bpickle\.loads?\b|\bjson\.loads?\b|\bast\.literal_eval\b|\bdeepcopy\b"),
    ),
    (
        READ,
        _pattern(
            r"/(zipfile|tarfile|pathlib|shutil|glob|genericpath|posixpath|ntpath|socket|ssl|http|urllib|sqlite3)(/\w+)*\.py$",
            r"/numpy/lib/(_npyio_impl|npyio|format|_format_impl)\.py$|/torch/serialization\.py$|^<frozen (os|posixpath)",
            r"/(h5py|zarr|lmdb|pyarrow|fastparquet|fsspec|s3fs|gcsfs|adlfs|boto3|botocore|requests|urllib3|aiohttp|webdataset)/",
        ),
        re.compile(
            r"^\w*ImageFile\.(__init__|_open)$|(^|\.)(read_(bytes|text)|scandir|listdir)$|\bio\.open\b|\bposix\."
        ),
    ),
)


def is_library(file: str) -> bool:
    """Whether a file is of Python or of an installed package, not of the script's own project."""
    return bool(_LIBRARY.search(file.replace("\\", "/")))


def kind_of(frames: list[Frame], collate: str = "") -> str:
    """The kind of work of a stack, innermost frame first; `collate` is the name of the loader's collate function."""
    for kind, files, functions in _WHOLE:
        if any(_is_of(frame, files, functions) for frame in frames):
            return kind
    innermost = next((kind for frame in frames for kind, *patterns in _INNERMOST if _is_of(frame, *patterns)), OWN)
    return COLLATE if innermost != DECODE and is_collate(frames, collate) else innermost


def _is_of(frame: Frame, files: re.Pattern[str], functions: re.Pattern[str]) -> bool:
    function, file, _ = frame
    if files.search(file.replace("\\", "/")):
        return True
    return function.rpartition(".")[2] not in _OF_DATASETS and bool(functions.search(function))


def is_collate(frames: list[Frame], collate: str) -> bool:
    """Whether a stack is of the collate function: the outermost frame is it, not the dataset."""
    function, file, _ = frames[-1]
    name = collate.rpartition(".")[2]
    if file.replace("\\", "/").endswith(_COLLATE_FILE):
        return True
    return (
        bool(name)
        and function.rpartition(".")[2] in {name, "__call__"}
        and (function.rpartition(".")[2] == name or function.removesuffix(".__call__").rpartition(".")[2] == name)
    )


def own_frame(frames: list[Frame], kind: str = OWN) -> tuple[Frame, str] | None:
    """The frame of the script's own code in which work of a kind is done, and what of a library it calls there.

    It is the innermost one, or, of work of which every call is a part, the one that begins it.  None where all is a library's.
    """
    whole = next(((files, functions) for name, files, functions in _WHOLE if name == kind), None)
    first = 0
    if whole:
        first = max((place for place, frame in enumerate(frames) if _is_of(frame, *whole)), default=0)
    called = ""
    for frame, outer in zip(frames[first:], [*frames[first + 1 :], ("", "", 0)], strict=True):
        function, file, line = frame
        if not is_library(file) and not _is_compiled(frame, outer):
            return (_ANONYMOUS.sub("", function), file, line), called
        called = function
    return None


def _is_compiled(frame: Frame, outer: Frame) -> bool:
    """Whether a frame stands for a function written in C, which has the file and line of what calls it."""
    return frame[1:] == outer[1:] and "<" not in frame[0]
