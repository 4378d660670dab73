"""Keeps out of a report, which travels into tickets, what is nobody else's business."""

from __future__ import annotations

import os
import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from loaderdoctor.privacy import masked, masked_text
from loaderdoctor.report.visible import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["clean", "clean_facts", "code_path", "masked", "short_path", "shown_command"]

_HOME = re.compile(
    r"(?<![\w.])(?:/home/[^/\s:'\",]+|/Users/[^/\s:'\",]+|/root|[A-Za-z]:\\Users\\[^\\\s:'\",]+)(?![\w-])"
)
_PEOPLE_AND_HOSTS = frozenset({"user", "username", "login", "host", "hostname", "node", "nodename", "fqdn"})


def shown_command(command: Iterable[str], working_directory: str) -> list[str]:
    """The words of a command as a report may show them."""
    return [clean(word, working_directory) for word in masked(shortened(str(word)) for word in command)]


def short_path(path: str, working_directory: str) -> str:
    """Relative to the working directory where it lies inside, else with the home directory as `~`."""
    folder = PurePath(working_directory)
    if working_directory and PurePath(path).is_relative_to(folder):
        return PurePath(path).relative_to(folder).as_posix()
    return _HOME.sub("~", path)


def code_path(path: str, working_directory: str) -> str:
    """A file of code: as `short_path`, an installed package's from the package on."""
    installed = re.split(r"[/\\](?:site|dist)-packages[/\\]", path)
    return installed[-1] if len(installed) > 1 else short_path(path, working_directory)


def clean(text: str, working_directory: str) -> str:
    """A sentence with the paths in it shortened and the secrets in it masked."""
    text = shortened(text)
    if len(PurePath(working_directory).parts) > 1:  # the root folder is no prefix to take out
        text = text.replace(working_directory.rstrip(os.sep) + os.sep, "")
    return masked_text(_HOME.sub("~", text))


def clean_facts(facts: Mapping[str, Any], working_directory: str) -> dict[str, Any]:
    """Facts for a report: paths shortened, names of people and machines left out."""
    kept = {key: value for key, value in facts.items() if key.lower() not in _PEOPLE_AND_HOSTS}
    return {key: _clean_value(value, working_directory) for key, value in kept.items()}


def _clean_value(value: Any, working_directory: str) -> Any:
    if isinstance(value, str):
        return clean(value, working_directory)
    if isinstance(value, dict):
        return clean_facts(value, working_directory)
    if isinstance(value, (list, tuple)):
        return [_clean_value(entry, working_directory) for entry in value]
    return value
