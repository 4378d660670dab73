"""One recorded run: what the parent noted, what the processes recorded, what was sampled from outside."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from loaderdoctor.record.stretches import Stretches

    Table = Mapping[str, npt.NDArray[np.int64]]


RUNNING = "running"  # RunMeta.ended_by until the parent has seen the end


@dataclass(frozen=True)
class RunMeta:
    """What the parent knows; `run.json` in the run directory.

    Times are ns of `time.perf_counter_ns` of the parent, the same clock as the records on Linux.
    """

    id: str
    tool_version: str
    command: tuple[str, ...]
    working_directory: str
    started_utc: str
    started_ns: int
    ended_ns: int | None = None  # None: the run goes on, or the parent itself was killed
    exit_code: int | None = None  # as a shell would say it: 128 + n for signal n
    ended_by: str = "script"  # script|steps|seconds|interrupt|signal|crash|running
    options: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Mapping[str, str], ...] = ()  # {"slug", "text"}
    host: str = ""  # the machine's own name for itself; a report shows it only where that is asked for


@dataclass(frozen=True)
class ProcessRecords:
    """The records of one process.

    `tables` has, for each kind that occurs, its columns by field name (probe.layout.KINDS), int64, in order of writing.
    `texts` resolves every `*_text` field.  `torn` counts records that could not be read.

    Of a long run `seen` are the stretches that are here, and all times are as if there were no gaps between them; what is
    left out is told in the table `passed`.
    """

    header: Mapping[str, int]
    tables: Mapping[str, Table]
    texts: Mapping[int, str]
    torn: int = 0
    seen: Stretches | None = None
    part: int = 0  # of a job recorded in several, whose clocks and process ids have nothing to do with each other

    @property
    def pid(self) -> int:
        """Process id, unique in a run only together with `header["opened_ns"]`."""
        return self.header["pid"]


@dataclass(frozen=True)
class Samples:
    """What one sampler of the parent saw: JSON objects, each with "at_ns", in order of time."""

    name: str
    rows: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Run:
    """Everything about a run; a pure value, equal however often it is read."""

    meta: RunMeta
    processes: tuple[ProcessRecords, ...]
    samples: Mapping[str, Samples] = field(default_factory=dict)
    directory: Path | None = None
    sources: Mapping[str, str] = field(
        default_factory=dict
    )  # path -> text of the files that build loaders, for patches
    unwritten: tuple[int, int] = (0, 0)  # records of processes that could have no file, and the system's error number
    parts: tuple[
        Run, ...
    ] = ()  # of a job recorded in several, each as it was read; then meta and samples are no host's
    names_hosts: bool = False  # whether its report may say how hosts are called

    def rows(self, name: str) -> tuple[Mapping[str, Any], ...]:
        """The samples of one sampler in order; none where it took none."""
        samples = self.samples.get(name)
        return samples.rows if samples else ()

    def part(self, number: int) -> Run:
        """What was recorded beside the processes of a part: all of the run where it has no parts."""
        if not self.parts:
            return self
        return replace(self.parts[number], processes=tuple(one for one in self.processes if one.part == number))
