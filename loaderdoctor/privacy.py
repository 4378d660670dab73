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
# A word of an option's name that announces a secret: --hf-token, api_key=, DB_PASSWORD=; not --tokenizer, --keyframes.
_SECRET_WORD = re.compile(
    r".*(tokens?|keys?|password|passwd|passphrase|secrets?|credentials?|auth|authorization|signature|bearer)"
    r"|(pg)?pass|pwd|creds?|jwt|sas|sig"
)
_SHORT_OPTIONS = frozenset({"-k", "-p"})  # for keys and passwords, by custom
# By their issuers: Hugging Face, OpenAI and Stripe, GitHub, GitLab, Slack, AWS, Google, npm; and what JSON web tokens begin with.
_KNOWN_SECRET = re.compile(
    r"(?:hf_|sk[-_]|gh[pousr]_|github_pat_|glpat-|xox[abp]-|AKIA|ASIA|AIza|npm_|pk_live_|rk_live_)[\w-]{12,}"
    r"|eyJ[\w-]{6,}\.[\w-]+\.?[\w-]*|(?i:(?<=bearer )|(?<=basic ))\S+"
)
_IN_ADDRESS = re.compile(r"(\w+://)\S*@")
_IN_WORD = re.compile(
    r"""(?P<name>[A-Za-z_][\w.\[\-]*)(?P<is>["'\]]*\s*(?:=|:(?!//))\s*)(?P<value>"[^"]*"|'[^']*'|[^\s,;&}"']+)"""
)
_HEADER = re.compile(r"(?i)((?:authorization|[\w-]*api-key|cookie)\s*:\s*).*")
_NUMBER = re.compile(r"[-+]?[\d.,_]+(?:[eE][-+]?\d+)?|true|false|none", re.IGNORECASE)  # --max-tokens 512 hides nothing
_DOTTED = re.compile(r"[\w-]+(?:\.[\w-]+)+")  # hydra's and jsonargparse's names: --set hf.token abc
_PEOPLE_AND_HOSTS = frozenset({"user", "username", "login", "host", "hostname", "node", "nodename", "fqdn"})


def masked(command: Iterable[str]) -> list[str]:
    """The command's words without the values of what is named like a secret, and without known secrets."""
    words: list[str] = []
    hides_next = False
    for word in command:
        if hides_next and not _is_option(word) and not _NUMBER.fullmatch(word):
            words.append(MASK)
            hides_next = False
            continue
        words.append(_without_secrets(word))
        names_a_secret = (
            _is_secret(word) if word.startswith("-") else bool(_DOTTED.fullmatch(word)) and _is_secret(word)
        )
        hides_next = "=" not in word and (names_a_secret or word in _SHORT_OPTIONS)
    return words


def _is_option(word: str) -> bool:
    """Whether the word begins an option of its own, and is no value that happens to begin with a dash."""
    return word.startswith("--") or (word.startswith("-") and len(word) <= len("-x"))


def _without_secrets(word: str) -> str:
    option, equals, value = word.partition("=")
    if word.startswith("-") and equals and _is_secret(option) and not _NUMBER.fullmatch(value):
        return f"{option}={MASK}"
    word = _HEADER.sub(rf"\1{MASK}", _IN_ADDRESS.sub(rf"\1{MASK}@", word))
    return _KNOWN_SECRET.sub(MASK, _IN_WORD.sub(_masked_value, word))


def _masked_value(match: re.Match[str]) -> str:
    if not _is_secret(match["name"]) or _NUMBER.fullmatch(match["value"]):
        return match.group()
    quote = match["value"][0] if match["value"][0] in "\"'" else ""
    return f"{match['name']}{match['is']}{quote}{MASK}{quote}"


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
