"""One batch that a loader gives again and again in no time, as a perfect loader would, in the trials that measure that."""

from __future__ import annotations

import sys
from typing import Any

from .stop import LEAST_WARM_UP

ATTRIBUTE = "_loaderdoctor_kept"  # of an iterator, which nobody can pickle or copy
SLUG = "one-batch-kept"  # of the note that says so


class Kept:
    """The batch of one loader, over all its epochs.

    Scripts change their batches in place and take things out of them, so what is given is made anew around the same memory,
    and a tensor that was written to gets its values back first.
    """

    __slots__ = ("_batch", "_made", "_originals")

    def __init__(self) -> None:
        self._batch: Any = None
        self._made = 0
        self._originals: dict[
            int, tuple[Any, int]
        ] = {}  # by id of a tensor in it: its values, and its version with them

    @property
    def is_there(self) -> bool:
        """Whether there is a batch to give."""
        return self._batch is not None

    def saw(self, batch: Any) -> bool:
        """The loader made a batch; whether this is the one that is kept: the last of those that allocate and compile."""
        self._made += 1
        if self._made < LEAST_WARM_UP:
            return False
        self._batch = self._rebuilt(batch, self._remembered)
        return True

    def give(self) -> Any:
        """The batch as it was."""
        return self._rebuilt(self._batch, self._restored)

    def _remembered(self, tensor: Any) -> Any:
        mine = tensor.detach()
        self._originals[id(mine)] = mine.clone(), mine._version
        return mine

    def _restored(self, tensor: Any) -> Any:
        values, version = self._originals[id(tensor)]
        if tensor._version != version:
            tensor.copy_(values)
            self._originals[id(tensor)] = values, tensor._version
        return tensor.detach()

    def _rebuilt(self, value: Any, of_tensor: Any) -> Any:
        """Containers as torch's own collation makes them; what else there is, is given as it is."""
        if isinstance(value, sys.modules["torch"].Tensor):
            return of_tensor(value)
        kind = type(value)
        if kind is dict:
            return {name: self._rebuilt(one, of_tensor) for name, one in value.items()}
        if kind in (list, tuple):
            return kind(self._rebuilt(one, of_tensor) for one in value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return kind(*(self._rebuilt(one, of_tensor) for one in value))
        return value
