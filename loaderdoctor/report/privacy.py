"""Keeps out of a report, which travels into tickets, what is nobody else's business."""

from __future__ import annotations

import os
import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MASK = "***"
_HOME = re.compile(
    r"(?<![\w.])(?:/home/[^/\s:'\",]+|/Users/[^/\s:'\",]+|/root|[A-Za-z]:\\Users\\[^\\\s:'\",]+)(?![\w-])"
)
# A word of an option's name that announces a secret: --hf-token, api_key=, DB_PASSWORD=; not --tokenizer, --max-tokens.
_SECRET_WORD = re.compile(r".*(token|key|password|passwd|passphrase|secret|credentials?|auth)")
_KNOWN_SECRET = re.compile(r"(hf_|sk-|gh[pousr]_|github_pat_|glpat-|xox[abp]-|AKIA)[\w-]{12,}")  # by their issuers
_IN_ADDRESS = re.compile(r"(\w+://)[^/\s@]+@")
_IN_QUERY = re.compile(r"([?&][^=&\s]*(?:token|key|password|secret|signature|sig)=)[^&\s]+", re.IGNORECASE)
_ASSIGNMENT = re.compile(r"(?P<name>[-+\w./]+)=(?P<value>.*)", re.DOTALL)
_PEOPLE_AND_HOSTS = frozenset({"user", "username", "login", "host", "hostname", "node", "nodename", "fqdn"})


def masked(command: Iterable[str]) -> list[str]:
    """The command's words without the values of options that are named like secrets, and without known secrets."""
    words: list[str] = []
    hides_next = False
    for word in command:
        assignment = _ASSIGNMENT.fullmatch(word)
        if hides_next and not word.startswith("-"):
            words.append(MASK)
        elif assignment and _is_secret(assignment["name"]):
            words.append(f"{assignment['name']}={MASK}")
        else:
            words.append(_without_secrets(word))
        hides_next = word.startswith("-") and assignment is None and _is_secret(word)
    return words


def _without_secrets(word: str) -> str:
    word = _IN_QUERY.sub(rf"\1{MASK}", _IN_ADDRESS.sub(rf"\1{MASK}@", word))
    return _KNOWN_SECRET.sub(MASK, word)


def _is_secret(name: str) -> bool:
    return any(_SECRET_WORD.fullmatch(word) for word in re.split(r"[^a-z]+", _snake(name)))


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


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
    """A sentence with the paths in it shortened."""
    if len(PurePath(working_directory).parts) > 1:  # the root folder is no prefix to take out
        text = text.replace(working_directory.rstrip(os.sep) + os.sep, "")
    return _HOME.sub("~", text)


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
