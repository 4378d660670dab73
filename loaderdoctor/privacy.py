"""Masks secrets in command lines, sentences and source text, before they are written and again before they are shown."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MASK = "***"

# Words of a name that announce a secret: --hf-token, api_key=, DB_PASSWORD=, PGPASS=, oauth; not --author, not --compass.
_SECRET_WORD = re.compile(
    r"(?!bypass|compass|trespass|surpass)(?:.*(?:token|password|passwd|passphrase|passcode|pass|pwd|secret|credential"
    r"|apikey|accesskey|auth|authorization|jwt)|.*(?<!mon)(?<!tur)key|bearer|cred|cookie|sas|pat|sig|signature)s?"
)
# What a name with such a word is about instead, said by its last word: --password-file, --token-dropout, --key-frames.
_ABOUT_IT = frozenset({
    "file", "path", "dir", "folder", "name", "type", "len", "length", "size", "dim", "dropout", "weight", "weights",
    "mask", "masks", "frames", "frame", "points", "padding", "budget", "limit", "ratio", "rate", "count",
    "embedding", "embeddings", "emb", "through", "embed",
})  # fmt: skip
# Or by another: --max-tokens, --pad-token, --image-key, --public-key; none of these is told to anybody in confidence.
_HARMLESS_BESIDE = frozenset({
    "pad", "eos", "bos", "unk", "sep", "cls", "special", "image", "img", "label", "text", "caption", "input",
    "output", "target", "sort", "group", "data", "dataset", "column", "feature", "json", "primary", "foreign",
    "index", "query", "public",
})  # fmt: skip
_COUNTED = frozenset({"token", "tokens", "key", "keys"})  # a plain number beside these is a number of them
_COUNTS = frozenset({"max", "min", "num", "n", "total", "count", "per", "limit", "id", "ids", "top", "k"})
_NUMBER = re.compile(r"[-+]?\d{1,9}(?:\.\d+)?(?:e[-+]?\d+)?[kKmMgGbB]?")
_PLAIN_VALUES = frozenset({"", "true", "false", "none", "null", "yes", "no", "auto", MASK})
_SHORT_OPTIONS = frozenset({"-k", "-p"})  # for keys and passwords, by custom; a number behind them stays, for `-k 5`

_ISSUERS = (  # how those who issue secrets write them
    r"(?:AKIA|ASIA|ABIA|ACCA|AGPA|AROA|ANPA|ANVA)[A-Z0-9]{12,}",
    r"AIza[\w-]{30,}|ya29\.[\w-]{10,}|GOCSPX-[\w-]{10,}",
    r"(?:gh[pousr]_|github_pat_|gl(?:pat|[dfr]t|[cp][bt]t|agent)-|pypi-|dckr_pat_|dop_v1_|shpat_|lin_api_)[\w-]{12,}",
    r"(?:hf_|api_org_|npm_)[A-Za-z0-9]{12,}",
    r"(?:sk-|[spr]k_(?:live|test)_)[\w-]{12,}|whsec_[\w-]{12,}|nvapi-[\w-]{12,}|(?:gsk|r8)_[\w-]{20,}",
    r"xox[a-z]-[\w-]{10,}|xapp-[\w-]{10,}|(?<=hooks\.slack\.com/services/)[\w/]+|SG\.[\w-]{10,}\.[\w-]{10,}",
    r"eyJ[\w-]{5,}(?:\.[\w-]+){1,4}\.?",
)
_KNOWN_SECRET = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(_ISSUERS)})")
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----(.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
_BEARER = re.compile(r"\b(Bearer|Basic)\s+[\w.~+/=-]{6,}")
_IN_ADDRESS = re.compile(r"(?<![\w+.-])([A-Za-z][\w+.-]*://)(?:[^\s'\"/@:]*:[^\s'\"]*|[^\s'\"/@]+)@")
_NAME = r"(?P<name>-{0,2}[A-Za-z_][\w.-]*(?:\[[\w.'\"-]+\])*)"
_QUOTED = r"""\\*"(?:[^"\\]|\\[^"])*\\*"|\\*'(?:[^'\\]|\\[^'])*\\*'|\[[^\]]*\]|\{[^}]*\}"""
# How a name and its value stand together, and what the value is then.
_EQUALS = (
    re.compile(rf"(?<![\w.-]){_NAME}(?P<sep>\\*[\"']?\s?=\s?|=)"),
    re.compile(rf"{_QUOTED}|[^\s&;'\")}}\]]+"),
)
_COLON = (
    re.compile(rf"(?<![\w.-]){_NAME}(?P<sep>\\*[\"']?\s*:\s*)(?!//)"),
    re.compile(rf"{_QUOTED}|(?:Bearer|Basic|Token|Digest)\s+[^\s'\"]+|[^\s,'\"}}\]]+"),
)
_BLANK = (
    re.compile(r"(?<!\S)(?P<name>--?[A-Za-z][\w.-]*)(?P<sep>\s+)"),
    re.compile(rf"{_QUOTED}|(?!--)\S+"),
)
_ASSIGNMENT = re.compile(r"(?P<name>[-+\w./\[\]'\"]+)(?P<sep>=|(?<=\w):\s*)(?P<value>.+)", re.DOTALL)
_BARE_NAME = re.compile(r"-{1,2}[\w.-]+|\w+(?:\.\w+)*")


def masked(command: Iterable[str]) -> list[str]:
    """The command's words without what could be a secret, by the name it is given under or by its own form."""
    words: list[str] = []
    name = ""  # what the next word would be the value of
    for word in command:
        if name and not word.startswith("--"):
            words.append(word if _is_plain(name, word) else MASK)
            name = name if _names_several(name) else ""
            continue
        words.append(_masked_word(word))
        is_name = word in _SHORT_OPTIONS or (words[-1] == word and _announces(word, words[-2:-1]))
        name = word if is_name else ""
    return words


def _announces(word: str, before: list[str]) -> bool:
    """Whether the next word is the value of this one: `--hf-token`, and of an override `--set hf.token`."""
    is_name = "." in word or any(one.startswith("-") for one in (word, *before))
    return is_name and bool(_BARE_NAME.fullmatch(word)) and is_given_in_confidence(word)


def _masked_word(word: str) -> str:
    """A word that may hold whole command lines, JSON, headers or addresses."""
    assignment = _ASSIGNMENT.fullmatch(word)
    if assignment and is_given_in_confidence(assignment["name"]):
        return f"{assignment['name']}{assignment['sep']}{_masked_value(assignment['name'], assignment['value'])}"
    text = _masked_pairs(_masked_pairs(masked_text(word), _COLON), _BLANK)
    pieces = re.split(r"(\s+)", text)
    if len(pieces) > 1:
        pieces[::2] = masked(pieces[::2])
    return "".join(pieces)


def masked_text(text: str, *, keep_braces: bool = False) -> str:
    """A sentence without secrets of a known form, in addresses, and behind `name=`; `keep_braces` for `name={name}`."""
    text = _PRIVATE_KEY.sub(lambda found: MASK + "\n" * found[1].count("\n"), text)
    text = _IN_ADDRESS.sub(rf"\1{MASK}@", text)
    text = _BEARER.sub(rf"\1 {MASK}", text)
    return _KNOWN_SECRET.sub(MASK, _masked_pairs(text, _EQUALS, keep_braces=keep_braces))


def _masked_pairs(text: str, pair: tuple[re.Pattern[str], re.Pattern[str]], *, keep_braces: bool = False) -> str:
    """The text without the values behind names; what is behind another name is looked into as well."""
    head, value_form = pair
    done, at = [], 0
    while found := head.search(text, at):
        done.append(text[at : found.end()])
        at = found.end()
        value = value_form.match(text, at) if is_given_in_confidence(found["name"]) else None
        if value and not (keep_braces and value[0][0] == "{"):
            done.append(_masked_value(found["name"], value[0]))
            at = value.end()
    return "".join((*done, text[at:]))


def _masked_value(name: str, value: str) -> str:
    """The mask, in the quotes that the value had."""
    quote = re.match(r"\\*[\"']", value)
    kept = quote[0] if quote and value.endswith(quote[0]) and len(value) > len(quote[0]) else ""
    return value if _is_plain(name, value) else f"{kept}{MASK}{kept}"


@cache
def is_given_in_confidence(name: str) -> bool:
    """Whether what is given under the name is kept from others."""
    words = _words(name)
    if not any(map(_SECRET_WORD.fullmatch, words)) or words[-1] in _ABOUT_IT:
        return False
    guilty = {word for word in words if _SECRET_WORD.fullmatch(word)}
    if guilty <= _COUNTED and _HARMLESS_BESIDE & set(words):
        return False
    return guilty != {"keys"} or len(words) > 1  # --keys alone are names of things; --api-keys are not


def _is_plain(name: str, value: str) -> bool:
    """Whether the value can be read by everybody: a switch, or a number where things are counted."""
    value = value.strip("\\'\"")
    if value.lower() in _PLAIN_VALUES:
        return True
    words = set(_words(name))
    is_counted = name in _SHORT_OPTIONS or bool(words & {"tokens", "keys", "key"}) or bool(words & _COUNTS)
    return is_counted and bool(_NUMBER.fullmatch(value))


def _names_several(name: str) -> bool:
    return name.endswith("s") and not name.endswith(("pass", "sas"))


def _words(name: str) -> list[str]:
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return [word for word in re.split(r"[^a-z]+", snake) if word] or [""]
