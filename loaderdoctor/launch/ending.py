"""What the records say about how a run ended, read while the run directory is still warm."""

from __future__ import annotations

import json
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.masked_source import masked_source
from loaderdoctor.probe.layout import ROLE_MAIN
from loaderdoctor.record import read_process

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from loaderdoctor.record import ProcessRecords

ENDS = {1: "steps", 2: "seconds"}  # end.why
MOST_SOURCE_BYTES = 1 << 20  # a file larger than this was not written by hand
INTERRUPTED = {-signal.SIGINT, 128 + signal.SIGINT}


def ended_by(processes: Iterable[ProcessRecords], returncode: int, *, interrupted: bool) -> str:
    """script|steps|seconds|interrupt|signal|crash, as report.json says it.

    crash: the script ended by itself with a status other than 0; signal: it died of one that is not Ctrl-C's.
    """
    for process in processes:
        for why in process.tables.get("end", {}).get("why", ()):
            if int(why) in ENDS:
                return ENDS[int(why)]
    if interrupted or returncode in INTERRUPTED:
        return "interrupt"
    if returncode < 0:
        return "signal"
    return "crash" if returncode else "script"


def first_batch_ns(run_dir: Path) -> int | None:
    """When the first batch of the run was there; None before."""
    times = [int(p.tables["next"]["end_ns"][0]) for p in main_processes(run_dir) if "next" in p.tables]
    return min(times, default=None)


def silence(processes: Sequence[ProcessRecords]) -> list[Mapping[str, str]]:
    """A note where no process recorded anything at all; else none."""
    if processes:
        return []
    text = (
        "No process below the command used a DataLoader, or none could be looked into: `python -I`, `-E` or `-S`, "
        "and launchers that empty the environment, keep the probe out."
    )
    return [{"slug": "nothing-recorded", "text": text}]


def gather_sources(run_dir: Path, processes: Iterable[ProcessRecords]) -> None:
    """Keep the files that build loaders, for the patch, and those of their datasets, for the lines that reads are told at.

    One that was written since its process began is no longer what ran: the copy of an earlier report stays, or there is none.
    """
    kept = run_dir / "sources.json"
    earlier = _kept(kept)
    sources: dict[str, str] = {}
    for process in processes:
        for file in set(_files_of(process)) - set(sources):
            with suppress(OSError, ValueError):  # gone, no text, or no name of a file at all
                sources[file] = earlier.get(file) or _source(file, process.header["unix_ns"])
    kept.touch(mode=0o600)
    kept.write_text(json.dumps(sources), encoding="utf-8")


def _kept(path: Path) -> dict[str, str]:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _source(file: str, began_ns: int) -> str:
    """The masked text.  OSError, or ValueError where it is none, is too large, or was written since."""
    seen = Path(file).stat()
    if not file or seen.st_size > MOST_SOURCE_BYTES or seen.st_mtime_ns > began_ns > 0:
        raise ValueError(file)
    return masked_source(Path(file).read_bytes().decode("utf-8"))


def _files_of(process: ProcessRecords) -> Iterator[str]:
    loaders = process.tables.get("loader", {})
    for number in np.unique(loaders.get("site_text", ())):
        yield process.texts.get(int(number), "").rpartition(":")[0]
    for number in np.unique(loaders.get("settings_text", ())):
        with suppress(ValueError):  # a process that was killed may have written half of it
            yield from json.loads(process.texts.get(int(number), "{}")).get("dataset_files", ())


def main_processes(run_dir: Path) -> list[ProcessRecords]:
    """The training processes that left records; files that cannot be read are passed over."""
    return list(each_main_process(run_dir))


def each_main_process(run_dir: Path) -> Iterator[ProcessRecords]:
    """The same, one after the other: those of a long run are large."""
    for path in sorted((run_dir / "records").glob("main-*.bin")):
        try:
            process = read_process(path)
        except (OSError, LoaderDoctorError):
            continue
        if process is not None and process.header["role"] == ROLE_MAIN:
            yield process
