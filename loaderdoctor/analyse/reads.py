"""Where the script's own code reads, opens and waits while batches are made; and how its passes over the data differ."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from loaderdoctor.analyse import stats
from loaderdoctor.analyse.frames import NS
from loaderdoctor.analyse.own_code import CallAt, calls_at
from loaderdoctor.analyse.signals import PassSignals, ReadSignals, Site
from loaderdoctor.values import Measured, Missing, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd

    Frame = tuple[str, str, int | None]

NO_STACKS = Missing("no-stacks", "No stack of this loader's batches was sampled.")
NO_SOURCE = Missing("no-source", "The source of the code that makes the batches was not kept with the run.")
NO_PASSES = Missing("one-epoch", "A first pass over the data differs from later ones only where there are some.")
FEWEST_MADE = 8  # batches of a pass; fewer are its start
_BLOCK_BYTES = 512  # unit of ru_inblock

# Functions that open a container, a database or a decoder; the constructors of classes count whatever they are called.
_OPENING = {"open_file", "connect", "from_file", "VideoCapture", "Dataset", "safe_open", "Environment", "TarFile"}
# Their open() reads a directory or a header; to open a plain file takes microseconds.
_OPENING_BY_OPEN = {"tarfile", "lmdb", "shelve", "dbm", "av", "rasterio", "zarr", "fits"}
_READING = {
    *("read", "read_text", "read_bytes", "readlines", "readall", "readinto", "pread", "readv", "preadv"),
    *("fromfile", "loadtxt", "genfromtxt", "memmap", "loadmat"),
    *(
        "read_csv",
        "read_table",
        "read_json",
        "read_parquet",
        "read_feather",
        "read_pickle",
        "read_hdf",
        "read_row_group",
    ),
    *("read_file", "read_excel", "extractfile", "reader", "DictReader"),
}
_LOADERS = {"np.load", "numpy.load", "torch.load", "pickle.load", "json.load", "nib.load", "nibabel.load"}
_LIBRARIES_THAT_READ = {
    *("Path.read_text", "Path.read_bytes", "ZipFile.read", "ZipExtFile.read", "GzipFile.read", "BZ2File.read"),
    *("LZMAFile.read", "NpzFile.__getitem__", "read_csv", "read_table", "read_parquet", "ParquetFile.read_row_group"),
}
# Containers whose elements are read by indexing: part of the file's path, and the method that reads.
_CONTAINERS_THAT_READ = (
    ("/h5py/_hl/dataset.py", "Dataset.__getitem__"),
    ("/h5py/_hl/dataset.py", "Dataset.read_direct"),
    ("/zarr/", "Array.__getitem__"),
    ("/tables/", "Leaf.__getitem__"),
    ("/tables/", "Array.__getitem__"),
    ("/tables/", "Table.read"),
)
# What turns compressed numbers, pictures or sound into arrays needs all of the file: its bytes are not read in vain.
_DECODERS = ("/PIL/", "/cv2/", "/torchvision/io/", "/soundfile.py", "/librosa/", "/decord/", "/torchaudio/", "/av/")
_DECODING = {"imdecode", "imread", "decode", "decode_image", "decode_jpeg", "decode_png", "convert", "decompress"}


@dataclass(frozen=True)
class Sampled:
    """A stack, innermost frame first, with the CPU time in it and the time that it was blocked."""

    frames: tuple[Frame, ...]
    cpu_ns: int
    blocked_ns: int
    samples: int


def sampled(found: pd.DataFrame) -> tuple[Sampled, ...]:
    """The distinct stacks of one loader; `found` has stack_text, cpu_ns, blocked_ns and samples."""
    sums = found.groupby("stack_text", sort=False)[["cpu_ns", "blocked_ns", "samples"]].sum()
    return tuple(
        Sampled(
            tuple((str(name), str(file), line) for name, file, line in json.loads(str(row.Index))),
            *(int(row.cpu_ns), int(row.blocked_ns), int(row.samples)),
        )
        for row in sums.itertuples()
    )


def reads_of(seen: Sequence[Sampled], sources: Mapping[str, str], shares: tuple[Value, Value]) -> ReadSignals:
    """Of one loader; `shares` are what its CPU time and its waits are of the making of a batch."""
    if not seen:
        return ReadSignals(opening_share=NO_STACKS, reading_share=NO_STACKS)
    waits = _largest([(_own_site(one, sources), one.blocked_ns) for one in seen])
    if not any(file in sources for one in seen for _, file, _ in one.frames):
        return ReadSignals(opening_share=NO_SOURCE, reading_share=NO_SOURCE)
    opening = [(_opening(one.frames, sources), one) for one in seen]
    reading = [(_reading(one.frames, sources), one) for one in seen]
    opened = _largest([(where, one.cpu_ns + one.blocked_ns) for where, one in opening])
    return ReadSignals(
        opening_share=_share(opening, shares),
        opening_site=opened[0] if opened else None,
        opening_call=opened[1] if opened else "",
        reading_share=_share(reading, shares),
        reading_site=_site(_largest([(where, one.cpu_ns + one.blocked_ns) for where, one in reading])),
        waiting_site=_site(waits),
    )


def passes_of(made: pd.DataFrame, steps: pd.DataFrame) -> PassSignals:
    """How the first pass over the data differs from those after it; `steps` are the loader's own with their waits."""
    passes = made.groupby("loop").filter(lambda rows: len(rows) >= FEWEST_MADE)
    loops = sorted(passes["loop"].unique())
    if len(loops) < 2:  # noqa: PLR2004 - a first and another one
        return PassSignals(*[NO_PASSES] * 5)
    first, later = passes[passes["loop"] == loops[0]], passes[passes["loop"] > loops[0]]
    waited_ns = steps.loc[steps["measured"], "exposed_ns"]
    in_first_ns = waited_ns.where(steps.loc[steps["measured"], "loop"] == loops[0], 0.0)
    return PassSignals(
        first_made_s=stats.mean(first["wall_ns"] / NS, "s"),
        later_made_s=stats.mean(later["wall_ns"] / NS, "s"),
        first_from_disk=_from_disk(first),
        later_from_disk=_from_disk(later),
        first_wait_share=stats.ratio(in_first_ns, waited_ns, "share") if float(waited_ns.sum()) > 0 else NO_PASSES,
    )


def _from_disk(made: pd.DataFrame) -> Value:
    disk = np.fmax(made["read_bytes"], made["blocks_in"] * _BLOCK_BYTES)
    everything = np.fmax(made["read_chars"], disk)
    known = disk.notna() & everything.notna()
    if not known.any() or float(everything[known].sum()) <= 0:
        return Missing("no-reads", "Nothing was read by calls that are counted; mapped files are not.")
    return stats.ratio(disk[known], everything[known], "share")


Place = tuple[Site, str]


def _own_site(one: Sampled, sources: Mapping[str, str]) -> Place | None:
    """The innermost line of the script's own code."""
    for function, file, line in one.frames:
        if file in sources and line:
            return Site(file, line), function
    return None


def _opening(frames: Sequence[Frame], sources: Mapping[str, str]) -> Place | None:
    """The line that builds a reader which is the same for every sample, and what it calls; None where none does."""
    for place in range(len(frames) - 1, -1, -1):
        _, file, line = frames[place]
        if file not in sources or not line:
            continue
        called = frames[place - 1][0] if place else ""
        for call in calls_at(sources[file], line):
            if not call.varies and _opens(call, called):
                return Site(file, line), call.name
    return None


def _opens(call: CallAt, called: str) -> bool:
    owner, _, function = called.rpartition(".")
    if function in {"__init__", "__new__"}:
        return owner.rpartition(".")[2] == call.last
    opens = call.last in _OPENING or (call.last == "open" and call.name.partition(".")[0] in _OPENING_BY_OPEN)
    return opens and (not called or function == call.last)


def _reading(frames: Sequence[Frame], sources: Mapping[str, str]) -> Place | None:
    """The innermost line of the script's own code, and what it calls, where that reads a file and decodes nothing."""
    if any(part in file for _, file, _ in frames for part in _DECODERS):
        return None
    own = next(((function, file, line) for function, file, line in frames if file in sources and line), None)
    if own is None:
        return None
    function, file, line = own
    calls = calls_at(sources[file], line or 0)
    if any(call.last in _DECODING for call in calls):
        return None
    for call in calls:
        if call.last in _READING or call.name in _LOADERS or (call.in_loop_head and call.last == "open"):
            return Site(file, line or 0), call.name
    by_library = any(name in _LIBRARIES_THAT_READ or _indexes_a_container(name, file) for name, file, _ in frames)
    return (Site(file, line or 0), function) if by_library else None


def _indexes_a_container(name: str, file: str) -> bool:
    return any(part in file and name == method for part, method in _CONTAINERS_THAT_READ)


def _share(found: Sequence[tuple[Place | None, Sampled]], shares: tuple[Value, Value]) -> Value:
    """Share of the making: of its CPU time by the timer's stacks, and of its waits by those of profiled batches."""
    parts: list[float] = []
    count = 0
    for of_making, time_ns in zip(shares, _TIMES, strict=True):
        whole = sum(time_ns(one) for _, one in found)
        if isinstance(of_making, Measured) and whole > 0:
            count += sum(one.samples for _, one in found if time_ns(one) > 0)
            parts.append(of_making.value * sum(time_ns(one) for where, one in found if where) / whole)
    if not parts:
        return NO_STACKS
    return stats.proportion(min(1.0, sum(parts)), max(1, count))


_TIMES: tuple[Callable[[Sampled], int], ...] = (lambda one: one.cpu_ns, lambda one: one.blocked_ns)


def _largest(found: Sequence[tuple[Place | None, int]]) -> Place | None:
    """The place that most of the time goes to."""
    sums: dict[Place, int] = {}
    for where, time_ns in found:
        if where is not None and time_ns > 0:
            sums[where] = sums.get(where, 0) + time_ns
    return max(sums, key=lambda where: sums[where], default=None)


def _site(where: Place | None) -> Site | None:
    return where[0] if where else None
