"""Which recorded processes train, which worker belongs to which, and what else was there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from loaderdoctor.analyse.frames import table
from loaderdoctor.probe.layout import NEXT_BATCH, ROLE_MAIN, ROLE_WORKER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from loaderdoctor.record.run import ProcessRecords, Run

    Note = tuple[str, str]

# In runs of before torch.distributed was asked, ranks that nobody numbered are told from unrelated processes by doing the
# same work at the same time; ranks may differ by an uneven split of the data, or by an evaluation that only one of them runs.
_SAME_WORK = 0.5


@dataclass(frozen=True)
class WorkerLife:
    """One process that made batches for one iterator."""

    iterator: int
    index: int
    pid: int
    start_ns: int  # when the main process began to start the iterator's workers
    started_ns: int  # when it had started them all
    process: ProcessRecords | None  # None: it left no records


@dataclass(frozen=True)
class Rank:
    """One training process and its loaders' workers."""

    number: int
    main: ProcessRecords
    workers: tuple[WorkerLife, ...]


def ranks_of(run: Run) -> tuple[tuple[Rank, ...], tuple[Rank, ...], tuple[Note, ...]]:
    """The ranks of the job in order, none where no process took a batch; trainings beside it that are none of its ranks.

    And notes on both.
    """
    trained = [process for process in run.processes if process.header["role"] == ROLE_MAIN and _batches(process)]
    numbered = [process for process in trained if rank_of(process) >= 0]
    alone = [] if numbered else [process for process in trained if _is_alone(process)]
    mains = _one_a_rank(numbered) if numbered else _leader(alone) or _side_by_side(trained)
    beside = [process for process in alone if process not in mains]
    notes: list[Note] = []
    if len(mains) + len(beside) < len(trained):
        left_out = len(trained) - len(mains) - len(beside)
        notes.append(
            ("several-processes", f"{left_out} more processes iterated loaders; only the main ones are analysed.")
        )
    if beside:
        notes.append(("separate-trainings", _apart(1 + len(beside))))
    numbers = [rank_of(main) if numbered else place for place, main in enumerate([*mains, *beside])]
    files = _of_workers(run)
    ranks = [Rank(number, main, _workers(main, files)) for number, main in zip(numbers, [*mains, *beside], strict=True)]
    return tuple(ranks[: len(mains)]), tuple(ranks[len(mains) :]), tuple(notes)


def _apart(processes: int) -> str:
    return (
        f"{processes} processes take batches, and torch.distributed is used by none of them: they are no ranks of one job. The "
        "verdict is about the one that took most batches; each has a row of its own among the processes, and no mean is made."
    )


def rank_of(process: ProcessRecords) -> int:
    """The rank that the environment gave the process, or torch.distributed; -1 where neither did."""
    told = table(process, "rank")["rank"]
    return process.header["rank"] if len(told) == 0 else int(told.iloc[-1])


def _is_alone(process: ProcessRecords) -> bool:
    """Whether torch.distributed was asked, and is not used; runs of before it was asked do not say."""
    return len(table(process, "rank")) > 0 and rank_of(process) < 0


def _leader(processes: Sequence[ProcessRecords]) -> list[ProcessRecords]:
    return [max(processes, key=_batches)] if processes else []


def _batches(process: ProcessRecords) -> int:
    calls = table(process, "next")
    return int(((calls["status"] == NEXT_BATCH) & (calls["depth"] <= 0)).sum())


def _one_a_rank(processes: Iterable[ProcessRecords]) -> list[ProcessRecords]:
    """For each rank the process that took most batches: an elastic launcher starts a rank again when it fails."""
    best: dict[int, ProcessRecords] = {}
    for process in processes:
        rank = rank_of(process)
        if rank not in best or _batches(process) > _batches(best[rank]):
            best[rank] = process
    return [best[rank] for rank in sorted(best)]


def _side_by_side(processes: Sequence[ProcessRecords]) -> list[ProcessRecords]:
    """The process that took most batches, and those that took about as many at the same time."""
    if not processes:
        return []
    leader = max(processes, key=_batches)
    begin, end = _span(leader)
    same = [
        process
        for process in processes
        if _batches(process) >= _SAME_WORK * _batches(leader)
        and min(end, _span(process)[1]) - max(begin, _span(process)[0]) >= _SAME_WORK * (end - begin)
    ]
    return sorted(same, key=lambda process: (process.header["opened_ns"], process.pid))


def _span(process: ProcessRecords) -> tuple[int, int]:
    calls = table(process, "next")
    return int(calls["begin_ns"].min()), int(calls["end_ns"].max())


def _of_workers(run: Run) -> dict[tuple[int, int], list[ProcessRecords]]:
    """By part and pid."""
    files: dict[tuple[int, int], list[ProcessRecords]] = {}
    for process in run.processes:
        if process.header["role"] == ROLE_WORKER:
            files.setdefault((process.part, process.pid), []).append(process)
    return files


def _workers(main: ProcessRecords, files: Mapping[tuple[int, int], Sequence[ProcessRecords]]) -> tuple[WorkerLife, ...]:
    """Workers by pid; of several processes that had one pid in turn, the first that opened its file after the start."""
    lives = []
    for row in table(main, "worker_started").itertuples(index=False):
        later = [
            process for process in files.get((main.part, row.pid), ()) if process.header["opened_ns"] >= row.begin_ns
        ]
        first = min(later, key=lambda process: process.header["opened_ns"], default=None)
        lives.append(WorkerLife(row.iterator, row.worker, row.pid, row.begin_ns, row.end_ns, first))
    return tuple(lives)
