"""Settings that a trial forces on one loader, as that loader is built; a recording that is no trial has no injection.

What the script wrote stays as it is: torch's own constructor runs, with other arguments.  Whether they took is read from the
loader's record, which tells its settings anew with each iterator.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from .faults import pass_on
from .kept import ATTRIBUTE, Kept
from .site import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Without workers torch refuses these, with the value that says "not set" where they are given by position.
NEEDS_WORKERS: Mapping[str, Any] = {
    "prefetch_factor": None,
    "persistent_workers": False,
    "multiprocessing_context": None,
    "timeout": 0,
}
_SAMPLERS = "torch.utils.data.sampler."
_OF_ITERABLE = "torch.utils.data.dataloader._InfiniteConstantSampler"


class Injection:
    """`settings` for the loader that is built at `file`:`line`.

    Where one place builds several, `alike` are settings that tell the one that is meant, as `settings.settings_of` names
    them.  `folder` is what relative names of files are relative to.  With `keeps`, the loader gives one kept batch.
    """

    def __init__(  # noqa: PLR0917 - what a trial tells, as it tells it
        self,
        folder: str,
        file: str,
        line: int,
        settings: Mapping[str, Any],
        alike: Mapping[str, Any] | None = None,
        keeps: bool = False,
    ) -> None:
        self._folder = folder
        self._place = self._absolute(file), line
        self._settings = settings
        self._alike = alike or {}
        self.keeps = keeps
        self._kept: WeakKeyDictionary[Any, Kept] = WeakKeyDictionary()  # by loader

    def arguments(
        self, loader: Any, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What the constructor `original` is to be called with, for a loader that is about to be built."""
        try:
            if self._place != self._built_at(loader):
                return args, kwargs
            by_position, names = _parameters(original)
            given = dict(zip(by_position, args, strict=False)) | kwargs
            if not all(_tell(name, given) == value for name, value in self._alike.items()):
                return args, kwargs
            if self.keeps:
                self._kept[loader] = Kept()
            wanted = {name: value for name, value in self._settings.items() if name in names}
            return _with(args, kwargs, by_position, _complete(wanted, given))
        except Exception as error:
            pass_on(error, asked_script=True)
            return args, kwargs

    def begins(self, iterator: Any, loader: Any) -> None:
        """An epoch over a loader begins."""
        kept = self._kept.get(loader) if self.keeps else None
        if kept is not None:
            iterator.__dict__[ATTRIBUTE] = kept

    def _built_at(self, loader: Any) -> tuple[str, int]:
        file, _, line = site_of(sys._getframe(1), loader).rpartition(":")
        return self._absolute(file), int(line or 0)

    def _absolute(self, file: str) -> str:
        """A script is named as on its command line, and by its whole path in a process that it spawns."""
        return os.path.normpath(os.path.join(self._folder, file))


def injection_of(text: str | None) -> Injection | None:
    """The injection that a trial's environment asks for; None where it asks for none, or for none that can be read."""
    if not text:
        return None
    try:
        return Injection(**json.loads(text))
    except (ValueError, TypeError):
        return None


def _parameters(constructor: Any) -> tuple[tuple[str, ...], frozenset[str]]:
    """The names that a constructor takes by position, and all that it takes, without `self`."""
    code = constructor.__code__
    named = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    return code.co_varnames[1 : code.co_argcount], frozenset(named)


def _complete(wanted: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, and what must go with them for torch to accept them."""
    if wanted.get("num_workers", given.get("num_workers", 0)) != 0:
        return wanted
    return wanted | {name: unset for name, unset in NEEDS_WORKERS.items() if name in wanted or name in given}


def _with(
    args: tuple[Any, ...], kwargs: dict[str, Any], by_position: tuple[str, ...], wanted: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    values, named = list(args), dict(kwargs)
    for name, value in wanted.items():
        if name in by_position[: len(values)]:
            values[by_position.index(name)] = value
        else:
            named[name] = value
    return tuple(values), named


def _tell(name: str, given: Mapping[str, Any]) -> Any:
    """A setting as it will be recorded, from the arguments."""
    return _TOLD[name](given)


def _dataset_type(given: Mapping[str, Any]) -> str:
    return _type_name(given["dataset"])


def _dataset_len(given: Mapping[str, Any]) -> int:
    return len(given["dataset"])


def _batch_size(given: Mapping[str, Any]) -> Any:
    batches = given.get("batch_sampler")
    return given.get("batch_size", 1) if batches is None else vars(batches).get("batch_size")


def _sampler(given: Mapping[str, Any]) -> str:
    batches, sampler = given.get("batch_sampler"), given.get("sampler")
    if batches is not None:
        theirs = not type(batches).__module__.startswith(_SAMPLERS[:-1])
        return _type_name(batches if theirs else getattr(batches, "sampler", None))
    if sampler is not None:
        return _type_name(sampler)
    torch: Any = sys.modules["torch"]
    if isinstance(given["dataset"], torch.utils.data.IterableDataset):
        return _OF_ITERABLE
    return f"{_SAMPLERS}{'Random' if given.get('shuffle') else 'Sequential'}Sampler"


def _type_name(value: Any) -> str:
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


_TOLD: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "dataset_type": _dataset_type,
    "sampler": _sampler,
    "batch_size": _batch_size,
    "dataset_len": _dataset_len,
}
TELLS_APART = tuple(_TOLD)  # two loaders of one place, the surest first: sizes of data sets grow
