"""What the probe of a trial is told: the one loader that is meant, and the settings that are forced on it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from loaderdoctor.probe.injection import TELLS_APART

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loaderdoctor.analyse.signals import LoaderSettings, LoaderSignals, Signals


def injected(
    signals: Signals, loader: LoaderSignals, settings: Mapping[str, Any], folder: str, *, keeps: bool = False
) -> str | None:
    """For `launch.Trial.injected`: these settings, on this loader of a run whose working directory is `folder`.

    With `keeps`, it gives one kept batch.  None where the run does not say where the loader is built.
    """
    if loader.site is None:
        return None
    return json.dumps({
        "folder": folder,
        "file": loader.site.file,
        "line": loader.site.line,
        "settings": dict(settings),
        "alike": alike(signals, loader),
        "keeps": keeps,
    })  # fmt: skip


def alike(signals: Signals, loader: LoaderSignals) -> dict[str, Any]:
    """The one setting that tells the loader from all others at its place; all of them where no single one does."""
    settings, beside = loader.settings, _beside(signals, loader)
    if not beside:
        return {}
    for name in TELLS_APART:
        if not any(_same(settings, other, name) for other in beside):
            return {name: getattr(settings, name)}
    return {name: getattr(settings, name) for name in TELLS_APART if getattr(settings, name) is not None}


def is_alone(signals: Signals, loader: LoaderSignals) -> bool:
    """Whether the probe can tell it from every other loader; where it cannot, those of its place are all treated."""
    beside = _beside(signals, loader)
    return not any(all(_same(loader.settings, other, name) for name in TELLS_APART) for other in beside)


def _beside(signals: Signals, loader: LoaderSignals) -> list[LoaderSettings]:
    """Of the other loaders that the same place builds."""
    return [other.settings for other in signals.loaders if other.site == loader.site and other is not loader]


def _same(one: LoaderSettings, other: LoaderSettings, name: str) -> bool:
    return bool(getattr(one, name) == getattr(other, name))
