"""Whether the settings of a trial took: read from what each training process recorded of its loaders."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from loaderdoctor.analyse.signals import LoaderSettings
from loaderdoctor.probe.layout import ROLE_MAIN
from loaderdoctor.treat.settings import recorded_as

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loaderdoctor.record import ProcessRecords, Run
    from loaderdoctor.treat.remedy import Remedy


@dataclass(frozen=True)
class Reached:
    """The loaders that were built at the remedy's place, over all training processes, and those that have its settings."""

    loaders: int
    treated: int
    otherwise: str = ""  # of one that has not: what it has instead, "num_workers=0"

    @property
    def is_treated(self) -> bool:
        """Whether the settings took, in each process that has such a loader at all."""
        return self.loaders > 0 and self.treated == self.loaders


def reached(run: Run, remedy: Remedy, folder: str, alike: Mapping[str, Any]) -> Reached:
    """Of one run of the remedy; `alike` tells its loader from others of the same line, as the probe was told."""
    site = remedy.loader.site
    if site is None:
        return Reached(0, 0)
    place = f"{PurePath(folder) / site.file}:{site.line}"
    wanted = recorded_as(remedy.settings)
    processes = [process for process in run.processes if process.header["role"] == ROLE_MAIN]
    there = [settings for one in processes for at, settings in _loaders(one, folder) if at == place]
    meant = [settings for settings in there if _is_alike(settings, alike)]
    lacking = [settings for settings in meant if not _has(settings, wanted)]
    said = ", ".join(f"{name}={lacking[0].get(name)!r}" for name in wanted) if lacking else ""
    return Reached(len(meant), len(meant) - len(lacking), said)


def _loaders(process: ProcessRecords, folder: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Place and settings of every loader of a process that was iterated."""
    table = process.tables.get("loader")
    if table is None:
        return
    for site, settings in zip(table["site_text"], table["settings_text"], strict=True):
        file, _, line = process.texts.get(int(site), "").rpartition(":")
        try:
            told = json.loads(process.texts.get(int(settings), "{}"))
        except ValueError:  # a process that was killed may have written half of it
            continue
        yield f"{PurePath(folder) / file}:{line}", told if isinstance(told, dict) else {}


def _is_alike(settings: Mapping[str, Any], alike: Mapping[str, Any]) -> bool:
    unsaid = LoaderSettings()
    return all(settings.get(name, getattr(unsaid, name)) == value for name, value in alike.items())


def _has(settings: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(settings.get(name) == value for name, value in wanted.items())
