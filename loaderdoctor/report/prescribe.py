"""From a finding's prescription to the patch of the script, and to the settings in words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from loaderdoctor.causes.base import FOUND
from loaderdoctor.masked_source import HIDDEN, masked_source
from loaderdoctor.report.headline import loader_of
from loaderdoctor.report.visible import visible
from loaderdoctor.treat.patch import patch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loaderdoctor.analyse.signals import Signals, Site
    from loaderdoctor.causes.base import Diagnosis, Finding
    from loaderdoctor.record.run import Run


@dataclass(frozen=True)
class FixPatch:
    """What `fix.patch` holds, and whose prescription it is."""

    cause: str
    text: str


def site_of(signals: Signals, finding: Finding) -> Site | None:
    """Where the finding's loader is built; None where that is not known."""
    loader = loader_of(signals, finding)
    return finding.site or (loader.site if loader else None)


def patch_of(run: Run, signals: Signals, finding: Finding) -> str | None:
    """The source edit for a finding, relative to the run's working directory.

    None without settings to change, without the source, or where the source lies elsewhere: `git apply` takes no path
    that leads out of the folder that it runs in.  None too where a secret stands so close to the loader that it would be
    in the patch, and for a file whose name is not what it looks like.
    """
    site = site_of(signals, finding)
    if site is None or finding.prescription is None or not finding.prescription.settings:
        return None
    return patch_at(run, site, finding.prescription.settings)


def patch_at(run: Run, site: Site, settings: Mapping[str, Any]) -> str | None:
    """The same for any settings of the loader that is built at a place."""
    folder = PurePath(run.meta.working_directory)
    path = folder / site.file
    source = run.sources.get(site.file, run.sources.get(str(path)))
    if source is None or not path.is_relative_to(folder) or ".." in path.parts:
        return None
    name = path.relative_to(folder).as_posix()
    text = patch(masked_source(source), name, site.line, settings)
    return None if text is None or HIDDEN in text or visible(name) != name else text


def fix_patch(run: Run, signals: Signals, diagnosis: Diagnosis) -> FixPatch | None:
    """The first finding's patch, or that of the first that has one; gains don't add up, so patches are not joined."""
    for finding in diagnosis.findings:
        if finding.status == FOUND:
            text = patch_of(run, signals, finding)
            if text is not None:
                return FixPatch(finding.cause, text)
    return None


def as_arguments(settings: Mapping[str, Any]) -> str:
    """Settings as one writes them in a call: "num_workers=6, persistent_workers=True"."""
    return ", ".join(f"{name}={value!r}" for name, value in settings.items())
