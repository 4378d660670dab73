"""What a sampler is: asked about once a second, it answers with a row, or with nothing and a note why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

Note = tuple[str, str]  # (slug, sentence)


class Sampler(Protocol):
    """One view of the run from outside.

    Rows hold plain JSON values, units in their names, and counters as they stand: differences are the analysis' work, so
    a lost row loses nothing.
    """

    @property
    def name(self) -> str:
        """The name of its file of rows."""

    def sample(self, pids: Sequence[int]) -> dict[str, Any] | None:
        """Return a row about now, or None where there is nothing to say; `pids` is the script's process tree."""

    def notes(self) -> list[Note]:
        """Say what could not be seen, each once."""


@runtime_checkable
class Glancer(Protocol):
    """A sampler that also takes a short look many times a second, and folds what it saw into its next row."""

    def glance(self) -> None:
        """Take the short look."""


@runtime_checkable
class Closing(Protocol):
    """What holds descriptors until the end."""

    def close(self) -> None:
        """Give them back."""


class Tree(Protocol):
    """What knows the processes of the script."""

    def pids(self) -> Sequence[int]:
        """Process ids, the script's own first."""
