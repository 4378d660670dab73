"""How many tensors and bytes a batch holds, without running code of the batch's own classes."""

from __future__ import annotations

import sys
from typing import Any

from .layout import UNKNOWN

MOST_NODES = 2048  # parts looked at; a batch of more is counted no further, 0.1 us a part
_SCALARS = (int, float, bool, str, bytes, type(None))


def payload(batch: Any) -> tuple[int, int]:
    """(tensors, bytes) of the tensors and arrays in a batch; (-1, -1) where it holds nothing that is known."""
    torch: Any = sys.modules.get("torch")
    numpy: Any = sys.modules.get("numpy")
    if torch is None:
        return UNKNOWN, UNKNOWN
    tensor_types = (torch.Tensor, torch.nn.Parameter)
    array_type = getattr(numpy, "ndarray", None)
    tensors = arrays = size = 0
    parts = [batch]
    for _ in range(MOST_NODES):
        if not parts:
            break
        part = parts.pop()
        kind = type(part)
        if kind in tensor_types:
            tensors += 1
            size += _tensor_bytes(part)
        elif kind is array_type:
            arrays += 1
            size += part.nbytes
        else:
            _unfold(part, parts)
    return (tensors, size) if tensors or arrays else (UNKNOWN, UNKNOWN)


def _tensor_bytes(tensor: Any) -> int:
    try:
        return int(tensor.nbytes)
    except Exception:  # sparse layouts have none
        return 0


def _unfold(part: Any, parts: list[Any]) -> None:
    """Add what a container holds; an object's own attributes are what it is pickled by."""
    if isinstance(part, _SCALARS):
        return
    if isinstance(part, dict):
        _extend(parts, list(part.values()))
    elif isinstance(part, (list, tuple)):
        _extend(parts, part)
    else:
        inside = getattr(part, "__dict__", None)
        if type(inside) is dict:
            _extend(parts, list(inside.values()))


def _extend(parts: list[Any], inside: Any) -> None:
    if inside and not isinstance(inside[0], _SCALARS):  # long lists of labels or file names hold no tensor
        parts.extend(inside[:MOST_NODES])
    elif inside:
        parts.extend(value for value in inside[:MOST_NODES] if not isinstance(value, _SCALARS))
