"""What the probe of a trial is told: the one loader that is meant, and the settings that are forced on it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loaderdoctor.analyse.signals import LoaderSettings, LoaderSignals, Signals

# What may tell two loaders of one place apart, as the probe's injection does; the surest first: sizes of data sets grow.
TELLS_APART = ("dataset_type", "sampler", "batch_size", "dataset_len")


def injected(signals: Signals, loader: LoaderSignals, settings: Mapping[str, Any], folder: str) -> str | None:
    """For `launch.Trial.injected`: these settings, on this loader of a run whose working directory is `folder`.

    None where the run does not say where the loader is built.
    """
    if loader.site is None:
        return None
    beside = [other.settings for other in signals.loaders if other.site == loader.site and other is not loader]
    return json.dumps({
        "folder": folder,
        "file": loader.site.file,
        "line": loader.site.line,
        "settings": dict(settings),
        "alike": _alike(loader.settings, beside),
    })  # fmt: skip


def is_alone(signals: Signals, loader: LoaderSignals) -> bool:
    """Whether the probe can tell it from every other loader; where it cannot, those of its place are all treated."""
    beside = [other.settings for other in signals.loaders if other.site == loader.site and other is not loader]
    return not any(all(_same(loader.settings, other, name) for name in TELLS_APART) for other in beside)


def _alike(settings: LoaderSettings, beside: Sequence[LoaderSettings]) -> dict[str, Any]:
    """The one setting that tells it from all others at its place; all of them where no single one does."""
    if not beside:
        return {}
    for name in TELLS_APART:
        if not any(_same(settings, other, name) for other in beside):
            return {name: getattr(settings, name)}
    return {name: getattr(settings, name) for name in TELLS_APART if getattr(settings, name) is not None}


def _same(one: LoaderSettings, other: LoaderSettings, name: str) -> bool:
    return bool(getattr(one, name) == getattr(other, name))
