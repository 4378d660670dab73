"""How many tensors and bytes a batch holds, without running code of the batch's own classes."""

from __future__ import annotations

import sys
from itertools import islice
from typing import TYPE_CHECKING, Any

from .faults import pass_on
from .layout import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_NODES = 2048  # parts looked at; a batch of more is counted no further, 0.1 us a part
_SCALARS = (int, float, bool, str, bytes, type(None))  # asked of types: isinstance would ask the object for its class


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
            _unfold(part, kind, parts)
    return (tensors, size) if tensors or arrays else (UNKNOWN, UNKNOWN)


def _tensor_bytes(tensor: Any) -> int:
    try:
        return int(tensor.nbytes)
    except Exception as error:  # sparse layouts have none
        pass_on(error, asked_script=True)
        return 0


def _unfold(part: Any, kind: type, parts: list[Any]) -> None:
    """Add what a container holds; an object's own attributes are what it is pickled by."""
    if issubclass(kind, _SCALARS):
        return
    if issubclass(kind, dict):
        _extend(parts, dict.values(part))
    elif issubclass(kind, list):
        _extend(parts, list.__iter__(part))
    elif issubclass(kind, tuple):
        _extend(parts, tuple.__iter__(part))
    else:
        try:
            inside = object.__getattribute__(part, "__dict__")
        except AttributeError:  # a class with slots
            return
        if type(inside) is dict:
            _extend(parts, inside.values())


def _extend(parts: list[Any], inside: Iterable[Any]) -> None:
    """Add the first ones; long lists of labels or file names hold no tensor."""
    parts.extend(value for value in islice(inside, MOST_NODES) if not issubclass(type(value), _SCALARS))
