"""Says in another language what causes and signals say in English: whole sentences, found by their fixed words."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

HOLE = "{}"
DEEPEST = 4  # sentences within sentences; advice at a place is two
LONGEST = 1000  # characters; no saying is as long, and long texts of others are not searched for one
_BETWEEN = re.compile(r"(?<=[.:;])\s+")


class Sayings:
    """English sentences with holes, and their translations with as many."""

    def __init__(self, table: Mapping[str, str]) -> None:
        self._table = table
        self._found = lru_cache(maxsize=4096)(self._find)

    def __call__(self, text: str) -> str:
        """The translation; of a text that is not known, its parts that are."""
        return text if len(text) > LONGEST else self._found(text, DEEPEST)

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], str]]:
        """Those with holes, the most fixed words first: few words fit too much."""
        holed = sorted((one for one in self._table if HOLE in one), key=lambda one: -len(one.replace(HOLE, "")))
        return [
            (re.compile("(.*?)".join(map(re.escape, one.split(HOLE))), re.DOTALL), self._table[one]) for one in holed
        ]

    def _find(self, text: str, depth: int) -> str:
        whole = self._whole(text, depth)
        if whole is not None or depth == 0:
            return text if whole is None else whole
        for gap in reversed([*_BETWEEN.finditer(text)]):
            start = self._whole(text[: gap.start()], depth)
            if start is not None:
                return start + self._found(text[gap.end() :], depth - 1)
        return text

    def _whole(self, text: str, depth: int) -> str | None:
        if text in self._table:
            return self._table[text]
        if depth == 0:
            return None
        for pattern, translation in self._patterns:
            found = pattern.fullmatch(text)
            if found is not None:
                return translation.format(*(self._found(part, depth - 1) for part in found.groups()))
        return None
