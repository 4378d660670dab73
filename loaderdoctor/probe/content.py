"""A checksum of what is in a batch, to tell whether two workers made the same one; no code of the batch's own classes runs."""

from __future__ import annotations

import sys
from itertools import islice
from typing import Any

from .faults import pass_on
from .layout import UNKNOWN
from .standard import standard

FIRST = 64  # batches of a pass that get one: a stream that is not shared out repeats from its first batch on
MOST_PARTS = 256  # looked at, in the order in which they lie in the batch
MOST_BYTES = 65_536  # of a batch: 30 us, and pictures with equal borders differ within them
_PART_BYTES = 8192  # of each part, from its middle: borders and padding lie at the ends
_SCALARS = (int, float, bool, str, bytes, type(None))


def content(number: int, batch: Any) -> int:
    """One more than the CRC-32 of the batch's beginning; -1 for later batches of a pass, and where nothing in it is known."""
    if not 0 <= number < FIRST:
        return UNKNOWN
    try:
        return _checksum(batch)
    except Exception as error:
        pass_on(error, asked_script=True)
        return UNKNOWN


def _checksum(batch: Any) -> int:
    zlib: Any = standard("zlib")
    torch: Any = sys.modules.get("torch")
    numpy: Any = sys.modules.get("numpy")
    tensor_types = (torch.Tensor, torch.nn.Parameter) if torch is not None else ()
    crc = size = 0
    parts = [batch]
    for _ in range(MOST_PARTS):
        if not parts or size >= MOST_BYTES:
            break
        part = parts.pop()
        kind = type(part)
        if kind in tensor_types:
            found = _of_tensor(part)
        elif numpy is not None and kind is numpy.ndarray:
            found = _of_array(part)
        elif kind in _SCALARS:
            found = repr(part)[:_PART_BYTES].encode("utf-8", "replace")
        else:
            parts.extend(_inside(part, kind))
            continue
        if found is None:
            return UNKNOWN
        crc = zlib.crc32(found, crc)
        size += len(found)
    return crc + 1 if size else UNKNOWN


def _of_tensor(tensor: Any) -> bytes | None:
    if tensor.device.type != "cpu" or not tensor.is_contiguous():
        return None
    size, start = _span(int(tensor.nbytes))
    ctypes: Any = standard("ctypes")
    return bytes(ctypes.string_at(tensor.data_ptr() + start, size)) if size else b""


def _of_array(array: Any) -> bytes | None:
    if array.dtype.hasobject or not array.flags.c_contiguous:
        return None
    size, start = _span(int(array.nbytes))
    ctypes: Any = standard("ctypes")
    return bytes(ctypes.string_at(array.ctypes.data + start, size)) if size else b""


def _span(whole: int) -> tuple[int, int]:
    """(length, start) of the bytes in the middle."""
    size = min(whole, _PART_BYTES)
    return size, (whole - size) // 2


def _inside(part: Any, kind: type) -> list[Any]:
    """What a container holds."""
    if issubclass(kind, dict):
        return list(islice(dict.values(part), MOST_PARTS))
    if issubclass(kind, list):
        return list.__getitem__(part, slice(MOST_PARTS))
    if issubclass(kind, tuple):
        return list(tuple.__getitem__(part, slice(MOST_PARTS)))
    try:
        inside = object.__getattribute__(part, "__dict__")
    except AttributeError:
        return []
    return list(islice(inside.values(), MOST_PARTS)) if type(inside) is dict else []
