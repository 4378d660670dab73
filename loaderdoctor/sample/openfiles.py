"""Which data files the processes of the script hold open or mapped at this moment."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST_DESCRIPTORS = 64  # of a process in one look: a new file takes the lowest free number, so files read now are low
STANDARD_STREAMS = 3
LEAST_MAPPED_BYTES = 1 << 20  # smaller mappings are locales, caches and the like
_CODE = (".py", ".pyc", ".so", ".pth", ".egg", ".whl")
_NOT_DATA = ("/dev/", "/proc/", "/sys/", "/memfd:", "/run/", "/usr/lib/", "/usr/share/", "/lib/", "/etc/")
_WRITE_ONLY = 1
_DELETED = " (deleted)"


def opened(folder: Path, besides: str) -> Iterator[str]:
    """Paths of data files that the process at `folder` (/proc/PID) has open for reading, outside the folder `besides`.

    Raises OSError where the process has ended or does not show its files.
    """
    base = str(folder)
    descriptors = sorted(int(name) for name in os.listdir(f"{base}/fd"))  # noqa: PTH208 - paths would be most of the cost
    for descriptor in [number for number in descriptors if number >= STANDARD_STREAMS][:MOST_DESCRIPTORS]:
        with suppress(OSError, ValueError):
            path = os.readlink(f"{base}/fd/{descriptor}")  # noqa: PTH115 - the same
            if _is_data(path, besides) and not _is_written(folder / "fdinfo" / str(descriptor)):
                yield path


def mapped(folder: Path, besides: str) -> Iterator[str]:
    """Paths of data files mapped into the process at `folder`: memory-mapped arrays, Arrow tables, LMDB.

    Raises OSError as `opened` does.
    """
    sizes: dict[str, int] = {}
    code: set[str] = set()
    for line in (folder / "maps").read_text(errors="replace").splitlines():
        span, permissions, *_, path = [*line.split(None, 5), ""][:6]
        if not path.startswith("/"):
            continue
        if "x" in permissions:
            code.add(path)
        begin, _, end = span.partition("-")
        sizes[path] = sizes.get(path, 0) + int(end, 16) - int(begin, 16)
    for path, size in sizes.items():
        if size >= LEAST_MAPPED_BYTES and path not in code and _is_data(path, besides):
            yield path


def _is_data(path: str, besides: str) -> bool:
    if not path.startswith("/") or path.startswith((*_NOT_DATA, besides + "/")) or path.endswith(_DELETED):
        return False
    name = path.rpartition("/")[2]
    return not name.endswith(_CODE) and ".so." not in name


def _is_written(information: Path) -> bool:
    """Whether a descriptor is open for writing alone: logs and checkpoints are no data of the loader."""
    for line in information.read_text().splitlines():
        if line.startswith("flags:"):
            return int(line.split()[1], 8) & os.O_ACCMODE == _WRITE_ONLY
    return False
