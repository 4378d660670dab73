"""One failing part of a report costs its own place and a note, never the report."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from loaderdoctor.report.words import Words

S = TypeVar("S")
T = TypeVar("T")
PART_FAILED = "part-failed"


class Parts:
    """Makes parts one by one, and keeps a note (slug, text) for each that failed."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self.notes: list[tuple[str, str]] = []

    def made(self, name: str, make: Callable[[], T], instead: T) -> T:
        """The part; where its making fails, what stands instead."""
        try:
            return make()
        except Exception as error:  # noqa: BLE001 - whatever a part trips over, the others are worth having
            self.notes.append((PART_FAILED, self._words("part.failed", part=name, error=repr(error))))
            return instead

    def each(self, name: str, make: Callable[[S], T], of: Iterable[S]) -> Iterator[T]:
        """A part for each of these, without those that failed."""
        for one in of:
            nothing: tuple[T, ...] = ()
            yield from self.made(name, partial(_alone, make, one), nothing)

    def sentence(self) -> str:
        """What is said in the place of the part that failed last."""
        return self.notes[-1][1]


def _alone(make: Callable[[S], T], one: S) -> tuple[T, ...]:
    return (make(one),)
