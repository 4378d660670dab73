"""Every cause that loaderdoctor knows, its page, and the verdict over a run."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING

from loaderdoctor.causes.decide import diagnose_with

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loaderdoctor.analyse.signals import Signals
    from loaderdoctor.causes.base import Cause, Diagnosis

SUBSYSTEMS = {
    "workers": "Workers",
    "environment": "Environment",
    "storage": "Storage",
    "cpu_work": "CPU work",
    "order": "Order and epochs",
    "main_process": "Main process and copies",
    "not_the_loader": "Not the loader",
}


def _discovered() -> Iterator[tuple[str, Cause]]:
    """(subsystem, cause) of each module in the folders beside this file that has a CAUSE."""
    for folder in pkgutil.iter_modules(__path__):
        if not folder.ispkg:
            continue
        package = import_module(f"{__name__}.{folder.name}")
        for module in pkgutil.iter_modules(package.__path__):
            cause: Cause | None = getattr(import_module(f"{package.__name__}.{module.name}"), "CAUSE", None)
            if cause is not None:
                yield folder.name, cause


_FOUND = sorted(_discovered(), key=lambda found: found[1].id)
_FOLDERS = {cause.id: folder for folder, cause in _FOUND}
CAUSES: tuple[Cause, ...] = tuple(cause for _, cause in _FOUND)


def get(cause_id: str) -> Cause:
    """The cause with this id; KeyError where there is none."""
    return {cause.id: cause for cause in CAUSES}[cause_id]


def titles() -> dict[str, str]:
    """What each cause says, by id."""
    return {cause.id: cause.title for cause in CAUSES}


def subsystem(cause_id: str) -> str:
    """The folder that the cause lies in: workers, environment, ...; KeyError where there is no such cause."""
    return _FOLDERS[cause_id]


def by_subsystem() -> dict[str, list[str]]:
    """Ids of the causes by the title of their subsystem, in the order in which one asks."""
    groups: dict[str, list[str]] = {}
    for folder, title in SUBSYSTEMS.items():
        ids = [cause.id for cause in CAUSES if subsystem(cause.id) == folder]
        if ids:
            groups[title] = ids
    return groups


def page(cause_id: str) -> str:
    """The cause's page, Markdown; KeyError where there is no such cause."""
    name = get(cause_id).id.replace("-", "_") + ".md"
    return (files(__name__) / subsystem(cause_id) / name).read_text(encoding="utf-8")


def diagnose(signals: Signals) -> Diagnosis:
    """The verdict: whether the run starves, why, what to change, how much faster, and what was ruled out."""
    return diagnose_with(CAUSES, signals)
