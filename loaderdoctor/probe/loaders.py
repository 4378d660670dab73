"""The loaders of this process by number, without holding on to any of them."""

from __future__ import annotations

import os
import sys
from itertools import count
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any
from weakref import ref

from .layout import KIND_OF, UNKNOWN
from .settings import caches_of, length_of_dataset, settings_of
from .site import site_of

if TYPE_CHECKING:
    from .writer import Writer

_LOADER = KIND_OF["loader"]


class Known:
    """What is remembered of one loader object."""

    __slots__ = ("built_ns", "caches", "dataset_len", "epochs", "number", "pid", "settings", "site")

    def __init__(self, site: str) -> None:
        self.site = site
        self.built_ns = perf_counter_ns()
        self.number = 0  # it gets one with its first iterator
        self.epochs = 0
        self.dataset_len: int | None = None
        self.caches: str | None = None
        self.settings = ""
        self.pid = UNKNOWN  # of the process whose file has its record


class Loaders:
    """Where loaders were built, and how often each was iterated."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._known: dict[int, tuple[ref[Any], Known]] = {}  # by id, until the loader dies

    def built(self, loader: Any) -> None:
        """A loader was just built."""
        self._remember(loader, Known(site_of(sys._getframe(1), loader)))

    def new_number(self) -> int:
        """A number for a loader that is not torch's and remembered by its iterator."""
        return next(self._numbers)

    def iterated(self, loader: Any, writer: Writer) -> tuple[int, int]:
        """An epoch over the loader begins: (its number, how many epochs were begun before).

        Loaders that were unpickled, or that only look like one, are met here for the first time: their site is the line
        that iterates them.  Settings changed since the last epoch make it another loader.
        """
        known = self._lookup(loader)
        if known is None:
            known = Known(site_of(sys._getframe(1), loader))
            self._remember(loader, known)
        if not known.number:
            known.dataset_len, known.caches = length_of_dataset(loader), caches_of(loader)
        settings = settings_of(loader, known.dataset_len, known.caches)
        if settings != known.settings or known.pid != os.getpid():
            known.number, known.settings, known.pid = next(self._numbers), settings, os.getpid()
            writer.put(_LOADER, known.number, known.built_ns, writer.text(known.site), writer.text(settings))
        known.epochs += 1
        return known.number, known.epochs - 1

    def _lookup(self, loader: Any) -> Known | None:
        entry = self._known.get(id(loader))
        return entry[1] if entry is not None and entry[0]() is loader else None

    def _remember(self, loader: Any, known: Known) -> None:
        key, entries = id(loader), self._known

        def forget(dead: ref[Any]) -> None:
            entry = entries.get(key)
            if entry is not None and entry[0] is dead:
                del entries[key]

        try:
            entries[key] = (ref(loader, forget), known)
        except TypeError:  # no weak references: it is met again with each iterator
            return
