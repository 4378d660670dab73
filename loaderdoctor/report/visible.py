"""Shows what a reader would not see, or would be led astray by: control characters, and marks that turn a line around."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

T = TypeVar("T")

LONGEST_TEXT = 2_000  # characters; no page is made for more in one place, and whoever wrote more did not mean well
# C0 but for tab and line feed, C1, marks of direction, invisible blanks and tags, halves of surrogates (from file names
# that are no UTF-8).  Joiners stay: whole scripts are written with them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
_LAYOUT = re.compile("[\t\n]")


def visible(text: str) -> str:
    r"""The text with such characters as `\x1b` and `\u202e`, cut where it is too long for any page."""
    return _UNSEEN.sub(_escaped, shortened(text))


def visible_line(text: str) -> str:
    """The same on one line, whatever it holds."""
    return _LAYOUT.sub(_escaped, visible(text))


def shortened(text: str) -> str:
    """At most as much as a reader can want, and a mark where there was more."""
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


def all_visible(value: T) -> T:
    """A view with every text in it made visible."""
    return _all_visible(value)  # type: ignore[no-any-return]  # each kind of value comes back as its own kind


def _all_visible(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, tuple):
        return tuple(_all_visible(entry) for entry in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: _all_visible(getattr(value, field.name)) for field in fields(value)})
    return value


def json_escaped(text: str) -> str:
    """JSON text with such characters as JSON's own escapes: it says the same, and shows it."""
    return _UNSEEN.sub(_in_json, text)


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")


def _in_json(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code <= 0xFFFF:  # noqa: PLR2004 - the last character that JSON escapes as one
        return f"\\u{code:04x}"
    return "".join(f"\\u{unit:04x}" for unit in (0xD7C0 + (code >> 10), 0xDC00 + (code & 0x3FF)))
