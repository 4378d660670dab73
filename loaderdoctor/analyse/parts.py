"""A part of the analysis that fails costs itself and a note, never the report."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from loaderdoctor.analyse.around import disk_signals, machine_signals, worker_samples
from loaderdoctor.values import Missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from loaderdoctor.analyse.ranks import Rank, WorkerLife
    from loaderdoctor.record.run import Run, Samples

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


def with_sound_samples(run: Run, parts: Parts) -> Run:
    """The run without the series of samples that nothing can be made of."""
    return replace(run, samples=MappingProxyType({s.name: s for s in run.samples.values() if _is_sound(run, s, parts)}))


def _is_sound(run: Run, samples: Samples, parts: Parts) -> bool:
    alone = replace(run, samples={samples.name: samples})
    looks = (machine_signals, disk_signals, worker_samples)
    return parts.holds(f"The samples of {samples.name}", lambda: [look(alone) for look in looks])


def with_sound_workers(rank: Rank, look: Callable[[Rank], object], parts: Parts) -> Rank:
    """The rank without the records of those workers that the look fails for, and of the main process if it fails for that."""
    bare = replace(rank, main=replace(rank.main, tables=MappingProxyType({})), workers=())

    def sound(life: WorkerLife) -> WorkerLife:
        what = f"What worker {life.index} (process {life.pid}) recorded"
        return life if parts.holds(what, lambda: look(replace(bare, workers=(life,)))) else replace(life, process=None)

    what = f"What rank {rank.number} (process {rank.main.pid}) recorded of its own batches"
    main = rank.main if parts.holds(what, lambda: look(replace(rank, workers=()))) else bare.main
    return replace(rank, main=main, workers=tuple(map(sound, rank.workers)))
