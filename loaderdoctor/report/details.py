"""From the second page on: other findings, what-if, phases, loaders, workers, stages, hot functions, method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.causes.base import FOUND
from loaderdoctor.report import figures, treated
from loaderdoctor.report.advice import fix, gain_in_words
from loaderdoctor.report.charts_ranks import hosts_table
from loaderdoctor.report.headline import cause_in_words, first_finding, loader_of
from loaderdoctor.report.model import FindingBlock, Listing, Table
from loaderdoctor.report.page_one import evidence_text, no_data, ruled_out_entries, settings_in_words
from loaderdoctor.report.prescribe import as_arguments
from loaderdoctor.report.privacy import clean, code_path
from loaderdoctor.report.tables import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from loaderdoctor.analyse.signals import LoaderSignals, Signals
    from loaderdoctor.causes.base import Diagnosis, Finding
    from loaderdoctor.record.run import Run
    from loaderdoctor.report.parts import Parts
    from loaderdoctor.report.prescribe import FixPatch
    from loaderdoctor.report.words import Words


def other_findings(
    run: Run, signals: Signals, diagnosis: Diagnosis, words: Words, in_file: FixPatch | None, *, parts: Parts
) -> tuple[FindingBlock, ...]:
    """Everything found but the first."""
    first = first_finding(diagnosis)
    found = [entry for entry in diagnosis.findings if entry.status == FOUND and entry is not first]
    return tuple(parts.each("findings", lambda finding: _block(run, signals, finding, words, in_file), found))


def _block(run: Run, signals: Signals, finding: Finding, words: Words, in_file: FixPatch | None) -> FindingBlock:
    title = cause_in_words(finding.cause, signals, loader_of(signals, finding), words)
    return FindingBlock(
        cause=finding.cause,
        title=title[:1].upper() + title[1:],
        facts=tuple(_finding_facts(finding, words)),
        evidence=tuple(clean(evidence_text(entry, words), run.meta.working_directory) for entry in finding.evidence),
        fix=fix(run, signals, finding, words, in_file=in_file is not None and in_file.cause == finding.cause),
    )


def _finding_facts(finding: Finding, words: Words) -> Iterator[str]:
    if finding.loader:
        yield words("finding.loader", loader=finding.loader)
    if finding.step_share is not None:
        yield words("finding.share", range=figures.share_range(finding.step_share))
    if text := gain_in_words(finding, words):
        yield text
    yield words("finding.confidence", confidence=words(f"confidence.{finding.confidence}"))


def tables(run: Run, signals: Signals, diagnosis: Diagnosis, words: Words, parts: Parts) -> tuple[Table, ...]:
    """Every table that has rows."""
    loaders = signals.loaders
    every = (
        *parts.each("what-if", lambda one: _what_if(one, diagnosis, words), (signals,)),
        *parts.each("hosts", lambda one: hosts_table(one, words), (signals,)),
        *parts.each("loaders", lambda one: _loaders(one, words), (signals,)),
        *parts.each("workers", lambda loader: _workers(loader, signals, words), loaders),
        *parts.each("stages", lambda loader: _stages(loader, signals, words), loaders),
        *parts.each("hot-functions", lambda loader: _hot(loader, run, signals, words), loaders),
    )
    return tuple(one for one in every if one.rows)


def _about(key: str, loader: LoaderSignals, signals: Signals, words: Words) -> str:
    """A table's title, with its loader where there is more than one."""
    return words(key) if len(signals.loaders) == 1 else f"{words(key)} · {loader.id}"


def _what_if(signals: Signals, diagnosis: Diagnosis, words: Words) -> Table:
    several = len({row.loader for row in diagnosis.what_if}) > 1
    rows = [
        (
            f"{row.loader}: {as_arguments(row.settings)}" if several else as_arguments(row.settings),
            figures.times(row.speedup.best),
            figures.times_range(row.speedup),
            figures.ABSENT if row.memory_bytes is None else figures.size(row.memory_bytes),
        )
        for row in diagnosis.what_if
    ]
    columns = {"settings": False, "speedup": True, "range": True, "memory": True}
    current = settings_in_words(signals.main.settings, words) if signals.main else ""
    return table(words("what-if.title"), columns, rows, words, note=words("what-if.note", settings=current))


def _loaders(signals: Signals, words: Words) -> Table:
    rows = [
        (
            loader.id,
            words(f"role.{loader.role}"),
            settings_in_words(loader.settings, words),
            f"{loader.batches:,}",
            figures.cell(loader.wait_s),
            figures.cell(loader.exposed_wait_s),
            figures.cell(loader.ready_empty_share),
        )
        for loader in signals.loaders
    ]
    columns = {
        "loader": False, "role": False, "settings": False, "batches": True, "waiting": True, "exposed": True, "empty": True,
    }  # fmt: skip
    return table(words("loaders.title"), columns, rows, words, note=words("loaders.note"))


def _workers(loader: LoaderSignals, signals: Signals, words: Words) -> Table:
    rows = [
        (
            f"{worker.index}",
            f"{worker.batches:,}",
            figures.cell(worker.busy_share),
            figures.cell(worker.cpu_share),
            figures.cell(worker.disk_wait_share),
            figures.cell(worker.network_wait_share),
            figures.cell(worker.run_queue_share),
            figures.cell(worker.start_s),
            figures.cell(worker.rss_bytes),
        )
        for worker in loader.workers
    ]
    names = ("worker", "batches", "busy", "cpu", "disk", "blocked", "run-queue", "start", "memory")
    columns = {name: name != "worker" for name in names}
    return table(_about("workers.title", loader, signals, words), columns, rows, words, note=words("workers.note"))


def _stages(loader: LoaderSignals, signals: Signals, words: Words) -> Table:
    rows = [
        (
            words(f"stage.{s.name}"),
            words(f"where.{s.where}"),
            figures.cell(s.seconds_per_batch),
            figures.cell(s.cpu_share),
        )
        for s in loader.stages
    ]
    columns = {"stage": False, "where": False, "per-batch": True, "cpu": True}
    return table(_about("stages.title", loader, signals, words), columns, rows, words)


def _hot(loader: LoaderSignals, run: Run, signals: Signals, words: Words) -> Table:
    rows = [
        (hot.function, f"{code_path(hot.file, run.meta.working_directory)}:{hot.line}", figures.cell(hot.share))
        for hot in loader.hot_functions
    ]
    columns = {"function": False, "place": False, "share": True}
    return table(_about("hot.title", loader, signals, words), columns, rows, words, note=words("hot.note"))


def lists(run: Run, signals: Signals, diagnosis: Diagnosis, words: Words, parts: Parts) -> tuple[Listing, ...]:
    """What else was ruled out, what could not be checked and why, and the notes of the run."""
    folder = run.meta.working_directory
    makers: Mapping[str, Callable[[], Iterable[tuple[str, str]]]] = {
        "treated.title": lambda: treated.listed(diagnosis, words, folder),
        "ruled-out.rest": lambda: ruled_out_entries(run, diagnosis, words),
        "no-data.title": lambda: no_data(run, diagnosis, words),
        "notes.title": lambda: ((slug, clean(words.said(text), folder)) for slug, text in notes_of(run, signals)),
    }
    every = parts.each("lists", lambda key: Listing(words(key), tuple(makers[key]())), makers)
    return tuple(listing for listing in every if listing.entries)


def notes_of(run: Run, signals: Signals) -> Iterator[tuple[str, str]]:
    """What the parent and the analysis noted; a run of another hand may hold notes that are none."""
    for note in run.meta.notes:
        if isinstance(note, dict):
            yield str(note.get("slug", "")), str(note.get("text", ""))
    yield from signals.notes


def method(signals: Signals, words: Words) -> Listing:
    """How the numbers came about."""
    entries = [words(f"method.{signals.clock}"), words("method.interval")]
    if any(loader.workload is not None for loader in signals.loaders):
        entries.append(words("method.prediction"))
    return Listing(words("method.title"), tuple(("", entry) for entry in entries))
