"""A part of the analysis that fails costs itself and a note, never the report."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from loaderdoctor.values import Missing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from loaderdoctor.analyse.ranks import Rank, WorkerLife
    from loaderdoctor.record.run import Run

T = TypeVar("T")
Note = tuple[str, str]
SLUG = "analysis-failed"


@dataclass
class Parts:
    """The parts of one analysis; `notes` say which of them failed."""

    notes: list[Note] = field(default_factory=list)

    def of(self, what: str, make: Callable[[], T], without: Callable[[Missing], T]) -> T:
        """What `make` makes; where it fails, what there is `without` it."""
        try:
            return make()
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one part, the others are worth a report
            text = f"{what} could not be analysed: {type(error).__name__}: {error}"
            self.notes.append((SLUG, text))
            return without(Missing(SLUG, text))

    def holds(self, what: str, make: Callable[[], object]) -> bool:
        """Whether `make` makes anything at all."""
        return self.of(what, lambda: make() is not self, lambda _: False)


def absent(cls: type[T], reason: Missing, **known: Any) -> T:
    """Signals of which nothing is known but what is given."""
    of_a_data_class: Any = cls
    values = {one.name: reason for one in fields(of_a_data_class) if one.type == "Value"}
    return cls(**(values | known))


def with_sound_samples(run: Run, look: Callable[[Run], object], parts: Parts) -> Run:
    """The run without the series of samples that makes the look fail; of several, without all that fail by themselves."""
    for name in run.samples:
        rest = _only(run, set(run.samples) - {name})
        if Parts().holds(name, partial(look, rest)):
            parts.holds(f"What was sampled of {name}", partial(look, run))
            return rest
    sound = [one for one in run.samples if parts.holds(f"What was sampled of {one}", partial(look, _only(run, {one})))]
    return _only(run, set(sound))


def _only(run: Run, names: Collection[str]) -> Run:
    kept = {name: samples for name, samples in run.samples.items() if name in names}
    return replace(run, samples=MappingProxyType(kept))


def with_sound_workers(rank: Rank, look: Callable[[Rank], object], parts: Parts) -> Rank:
    """The rank without the records of those workers that the look fails for, and of the main process if it fails for that."""
    bare = replace(rank, main=replace(rank.main, tables=MappingProxyType({})), workers=())

    def sound(life: WorkerLife) -> WorkerLife:
        what = f"What worker {life.index} (process {life.pid}) recorded"
        return life if parts.holds(what, lambda: look(replace(bare, workers=(life,)))) else replace(life, process=None)

    what = f"What rank {rank.number} (process {rank.main.pid}) recorded of its own batches"
    main = rank.main if parts.holds(what, lambda: look(replace(rank, workers=()))) else bare.main
    return replace(rank, main=main, workers=tuple(map(sound, rank.workers)))
