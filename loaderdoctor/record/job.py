"""A job that several hosts, or several commands, recorded a part of each: found, and read as one run."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.record.meta import META_FILE, read_meta
from loaderdoctor.record.reader import read

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loaderdoctor.record.run import Run, RunMeta

RECORDED_AS_A_PART = "one-of-several-parts"  # the note of a part on its own


def parts_in(folder: Path) -> list[Path]:
    """The run directories that a folder stands for: itself, or, where it is none, the parts of a job right below it.

    Runs that were not recorded as parts are left alone: a folder of all runs of a month is no job.
    """
    if (folder / META_FILE).exists():
        return [folder]
    return sorted(found.parent for found in folder.glob(f"*/{META_FILE}") if _is_part(found.parent)) or [folder]


def _is_part(directory: Path) -> bool:
    try:
        return any(note["slug"] == RECORDED_AS_A_PART for note in read_meta(directory).notes)
    except LoaderDoctorError:
        return False


def read_job(folders: Sequence[Path], *, names_hosts: bool = False) -> Run:
    """The run in these folders, of which each may hold several parts of it; one given twice is read once.

    LoaderDoctorError `not-a-run` or `run-too-new`.
    """
    found: dict[Path, Path] = {}  # by its whole name, as it was given
    for directory in (one for folder in folders for one in parts_in(folder)):
        found.setdefault(directory.absolute(), directory)
    run = read(*found.values()) if len(found) == 1 else _joined([read(directory) for directory in found])
    return replace(run, names_hosts=names_hosts)


def _joined(runs: Sequence[Run]) -> Run:
    parts = tuple(sorted(runs, key=lambda run: (_lowest_rank(run), run.meta.host, str(run.directory))))
    processes = tuple(replace(process, part=number) for number, run in enumerate(parts) for process in run.processes)
    sources = {path: text for run in reversed(parts) for path, text in run.sources.items()}  # the first part's count
    return replace(
        parts[0],
        meta=_meta([run.meta for run in parts]),
        processes=processes,
        samples=MappingProxyType({}),
        directory=None,
        sources=MappingProxyType(sources),
        unwritten=(sum(run.unwritten[0] for run in parts), max(run.unwritten[1] for run in parts)),
        parts=parts,
    )


def _lowest_rank(run: Run) -> int:
    """By which parts are ordered; those of no rank come last."""
    ranks = [process.header["rank"] for process in run.processes]
    ranks += [int(rank) for process in run.processes for rank in process.tables.get("rank", {}).get("rank", ())]
    return min((rank for rank in ranks if rank >= 0), default=1 << 62)


def _meta(metas: Sequence[RunMeta]) -> RunMeta:
    """The first part's, without what is a host's own; the job ended as the first part did that did not end by itself."""
    ended = next((meta for meta in metas if meta.ended_by != "script" or meta.exit_code), metas[0])
    return replace(metas[0], exit_code=ended.exit_code, ended_by=ended.ended_by, environment={}, notes=(), host="")
