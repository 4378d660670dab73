"""A DataLoader's settings as the report names them, read without a side effect."""

from __future__ import annotations

import json
import sys
from functools import lru_cache
from typing import Any

from .about import start_method_default
from .faults import pass_on

_CACHES = ("cache", "memo")  # as the names of what is kept for later say
_DICTS = ("dict", "OrderedDict", "defaultdict")
_MOST_WRAPPERS = 5  # datasets inside one another: Subset and the like
_LRU_CACHE = type(lru_cache(lambda: None))
_ITERABLE = 1  # torch.utils.data._DatasetKind.Iterable
_PLAIN = ("batch_size", "num_workers", "prefetch_factor", "pin_memory", "persistent_workers", "drop_last", "timeout")
MOST_WRAPPED = 4  # data sets within each other, each of which may have a file of its own
_INSTALLED = ("/site-packages/", "/dist-packages/")
_SAMPLERS = ("torch.utils.data.sampler", "torch.utils.data.distributed", "torchdata.stateful_dataloader.sampler")


def settings_of(loader: Any, dataset_len: int | None, caches: str | None = None) -> str:
    """A JSON object: the fields of analyse.signals.LoaderSettings, and `dataset_files`; what cannot be told is left out."""
    settings: dict[str, Any] = {"dataset_len": dataset_len, "caches": caches}
    for name in (*_PLAIN, "in_order"):
        _tell(settings, name, lambda name=name: _plain(getattr(loader, name)))
    if settings.get("batch_size") is None:
        _tell(settings, "batch_size", lambda: _size_of_batch_sampler(loader))
    _tell(settings, "start_method", lambda: _start_method(loader))
    _tell(settings, "dataset_type", lambda: _type_name(loader.dataset))
    _tell(settings, "dataset_kind", lambda: "iterable" if is_iterable(loader) else "map")
    _tell(settings, "batched_fetch", lambda: bool(getattr(type(loader.dataset), "__getitems__", None)))
    _tell(settings, "collate", lambda: _function_name(loader.collate_fn))
    _tell(settings, "sampler", lambda: _sampler_name(loader))
    _tell(settings, "loader_type", lambda: _type_name(loader))
    _tell(settings, "dataset_files", lambda: _files_of(loader.dataset))
    return json.dumps(settings)


def length_of_dataset(loader: Any) -> int | None:
    """len(dataset), asked only where torch's own sampler asks it anyway at each epoch; None elsewhere.

    An iterable dataset's or a loader's own length is never asked: torch would warn later because of it.
    """
    try:
        if is_iterable(loader) or type(loader.sampler).__module__ not in _SAMPLERS:
            return None
        return len(loader.dataset)
    except Exception as error:
        pass_on(error, asked_script=True)
        return None


def caches_of(loader: Any) -> str | None:
    """Attributes of the dataset, and of those that it wraps, that are called caches and live in one process: "cache, _memo".

    Only plain attributes are read, by their names and types: nothing of the script runs.
    """
    try:
        dataset, found = loader.dataset, []
        for _ in range(_MOST_WRAPPERS):
            attributes = getattr(dataset, "__dict__", {})
            found += [name for name, value in attributes.items() if _is_cache(name, value)]
            found += [name for name, value in vars(type(dataset)).items() if type(value) is _LRU_CACHE]
            dataset = attributes.get("dataset")
            if dataset is None:
                break
        return ", ".join(found)
    except Exception as error:
        pass_on(error, asked_script=True)
        return None


def _is_cache(name: str, value: Any) -> bool:
    """Whether it is filled as the dataset is used: a container called so, which is empty when the workers are started."""
    if not any(word in name.lower() for word in _CACHES):
        return False
    if type(value) is list:
        return not value or value[0] is None
    return type(value).__name__ in _DICTS and isinstance(value, dict) and dict.__len__(value) == 0


def is_iterable(loader: Any) -> bool:
    """Whether the loader's dataset is iterated, not indexed."""
    return bool(getattr(loader, "_dataset_kind", 0) == _ITERABLE)


def _tell(settings: dict[str, Any], name: str, ask: Any) -> None:
    try:
        settings[name] = ask()
    except Exception as error:  # a subclass without the attribute, or with a property that fails
        pass_on(error, asked_script=True)
        return


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _start_method(loader: Any) -> str | None:
    if not loader.num_workers:
        return None
    context = loader.multiprocessing_context
    method = None if context is None else context.get_start_method(allow_none=True)
    return start_method_default() if method is None else str(method)


def _size_of_batch_sampler(loader: Any) -> int | None:
    """What a batch sampler that was handed over keeps as its size, as torch's does; read past every property."""
    size = vars(loader.batch_sampler).get("batch_size")
    return size if type(size) is int else None


def _sampler_name(loader: Any) -> str:
    """The script's own batch sampler where there is one, else the sampler, which may be inside of a batch sampler."""
    batches = loader.batch_sampler
    if batches is None:
        return _type_name(loader.sampler)
    theirs = type(batches).__module__ not in _SAMPLERS
    return _type_name(batches if theirs else getattr(batches, "sampler", loader.sampler))


def _type_name(value: Any) -> str:
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def _files_of(dataset: Any) -> list[str]:
    """The script's own files that say how a sample is made: of the data set, and of those that it wraps as torch's Subset does."""
    files: list[str] = []
    for _ in range(MOST_WRAPPED):
        file = getattr(sys.modules.get(type(dataset).__module__), "__file__", None)
        if type(file) is str and not any(part in file for part in _INSTALLED) and file not in files:
            files.append(file)
        dataset = getattr(dataset, "__dict__", {}).get("dataset")
        if dataset is None:
            break
    return files


def _function_name(value: Any) -> str:
    value = getattr(value, "func", value)  # a functools.partial
    name = getattr(value, "__qualname__", None)
    return f"{value.__module__}.{name}" if name else _type_name(value)
