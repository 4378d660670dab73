"""report.json: the contract with scripts, CI jobs and tickets, field by field."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from loaderdoctor.causes.base import FOUND, Action
from loaderdoctor.report import treated
from loaderdoctor.report.details import notes_of
from loaderdoctor.report.page_one import facts_of
from loaderdoctor.report.parts import Parts
from loaderdoctor.report.prescribe import patch_of
from loaderdoctor.report.privacy import clean, clean_facts, code_path, short_path, shown_command
from loaderdoctor.report.visible import json_escaped, shortened
from loaderdoctor.report.words import Words
from loaderdoctor.values import Interval, Measured, value_or_none

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from loaderdoctor.analyse.signals import (
        HostSignals,
        HotFunction,
        LoaderSignals,
        RankSignals,
        Signals,
        Spell,
        Stage,
        WorkerSignals,
    )
    from loaderdoctor.causes.base import Diagnosis, Finding, Gain, Prescription, WhatIf
    from loaderdoctor.record.run import Run
    from loaderdoctor.report.model import ReportView
    from loaderdoctor.values import Value

# 1  first version
SCHEMA = "loaderdoctor.report/1"


def render(run: Run, signals: Signals, diagnosis: Diagnosis, seen: ReportView) -> str:
    """The report as JSON text; `seen` is what it says in words."""
    report = as_json(run, signals, diagnosis, seen)
    return json_escaped(json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def as_json(run: Run, signals: Signals, diagnosis: Diagnosis, seen: ReportView) -> dict[str, Any]:
    """The report as JSON values: shares 0..1, seconds, bytes; null where something is not known."""
    folder = run.meta.working_directory
    parts = Parts(Words(seen.lang))
    makers: Mapping[str, Callable[[], Any]] = {
        "run": lambda: _run(run),
        "verdict": lambda: _verdict(signals, diagnosis, seen),
        "step": lambda: _step(signals),
        "phases": lambda: [asdict(phase) for phase in signals.phases],
        "spells": lambda: [_spell(spell) for spell in signals.spells],
        "loaders": lambda: list(parts.each("loaders", lambda loader: _loader(loader, folder), signals.loaders)),
        "findings": lambda: list(
            parts.each("findings", lambda finding: _finding(run, signals, finding), _found_first(diagnosis))
        ),
        "what_if": lambda: [_what_if(row) for row in diagnosis.what_if],
        "combined_gain": lambda: _gain(diagnosis.combined_gain),
        "ranks": lambda: [_rank(one) for one in signals.processes.each if signals.processes.are_ranks],
        "trainings": lambda: [_rank(one) for one in signals.processes.each if not signals.processes.are_ranks],
        "hosts": lambda: [_host(one, folder) for one in signals.processes.by_host],
        "environment": lambda: facts_of(run, signals),
        "overhead": lambda: {"share": value_or_none(signals.overhead_share), "lost_records": signals.lost_records},
        "notes": lambda: [_note(slug, clean(text, folder)) for slug, text in notes_of(run, signals)],
    }
    if diagnosis.treated:
        makers = {**makers, "treated": lambda: [treated.as_json(outcome) for outcome in diagnosis.treated]}
    report = {key: parts.made(key, partial(_plain_of, make), None) for key, make in makers.items()}
    report["notes"] = [*(report["notes"] or []), *(_note(slug, text) for slug, text in parts.notes)]
    return {"schema": SCHEMA, **report}


def _rank(one: RankSignals) -> dict[str, Any]:
    measured = {
        "step_s": one.step_s,
        "wait_s": one.wait_s,
        "starved_share": one.starved_share,
        "last_share": one.last_share,
    }
    values = {name: value_or_none(value) for name, value in measured.items()}
    return {"rank": one.rank, "host": one.host, "batches": one.batches, **values}


def _host(one: HostSignals, folder: str) -> dict[str, Any]:
    return {"host": one.host, "ranks": list(one.ranks), "environment": clean_facts(one.machine.facts, folder)}


def _note(slug: str, text: str) -> dict[str, str]:
    return {"slug": slug, "text": text}


def _what_if(row: WhatIf) -> dict[str, Any]:
    return {
        "loader": row.loader,
        "settings": dict(row.settings),
        "speedup": asdict(row.speedup),
        "memory_bytes": row.memory_bytes,
        **({"choice": list(row.choice)} if row.choice else {}),
    }


def _run(run: Run) -> dict[str, Any]:
    meta = run.meta
    return {
        "id": meta.id,
        "started_utc": meta.started_utc,
        "duration_s": None if meta.ended_ns is None else (meta.ended_ns - meta.started_ns) / 1e9,
        "command": shown_command(meta.command, meta.working_directory),
        "exit_code": meta.exit_code,
        "ended_by": meta.ended_by,
        "tool_version": meta.tool_version,
    }


def _verdict(signals: Signals, diagnosis: Diagnosis, seen: ReportView) -> dict[str, Any]:
    return {
        "status": diagnosis.status,
        "clock": signals.clock,
        "starved_share": _interval(signals.starved_share),
        "cause": diagnosis.cause,
        "limit": diagnosis.limit,
        "headline": seen.headline,
        "reason": diagnosis.reason or None,
    }


def _step(signals: Signals) -> dict[str, Any]:
    steps = signals.steps
    shares = {
        "data_wait": steps.data_wait_share,
        "h2d": steps.h2d_share,
        "compute": steps.compute_share,
        "other": steps.other_share,
    }
    return {
        "count": steps.count,
        "excluded": dict(steps.excluded),
        "median_s": value_or_none(steps.median_s),
        "samples_per_s": value_or_none(steps.samples_per_s),
        "shares": {name: value_or_none(value) for name, value in shares.items()},
    }


def _spell(spell: Spell) -> dict[str, Any]:
    """From when to when the run waited about as much all the time; one where it never changed."""
    return {
        "from_step": spell.from_step,
        "to_step": spell.to_step,
        "from_s": spell.from_s,
        "to_s": spell.to_s,
        "starved_share": _interval(spell.starved_share),
    }


def _loader(loader: LoaderSignals, folder: str) -> dict[str, Any]:
    site = None if loader.site is None else {"file": short_path(loader.site.file, folder), "line": loader.site.line}
    return {
        "id": clean(loader.id, folder),
        "role": loader.role,
        "site": site,
        "settings": asdict(loader.settings),
        "batches": loader.batches,
        "epochs": loader.epochs,
        "wait_s": value_or_none(loader.wait_s),
        "exposed_wait_s": value_or_none(loader.exposed_wait_s),
        "ready_batches": {
            "median": value_or_none(loader.ready_median),
            "empty_share": value_or_none(loader.ready_empty_share),
        },
        "stages": [_stage(stage) for stage in loader.stages],
        "workers": [_worker(worker) for worker in loader.workers],
        "hot_functions": [_hot(hot, folder) for hot in loader.hot_functions],
    }


def _stage(stage: Stage) -> dict[str, Any]:
    return {
        "name": stage.name,
        "seconds_per_batch": value_or_none(stage.seconds_per_batch),
        "cpu_share": value_or_none(stage.cpu_share),
        "where": stage.where,
    }


def _worker(worker: WorkerSignals) -> dict[str, Any]:
    measured = {
        "busy_share": worker.busy_share,
        "cpu_share": worker.cpu_share,
        "disk_wait_share": worker.disk_wait_share,
        "network_wait_share": worker.network_wait_share,
        "run_queue_share": worker.run_queue_share,
        "start_s": worker.start_s,
        "rss_bytes": worker.rss_bytes,
        "private_growth_bytes": worker.private_growth_bytes,
        "threads": worker.threads,
    }
    values = {name: value_or_none(value) for name, value in measured.items()}
    return {"index": worker.index, "pid": worker.pid, "batches": worker.batches, **values}


def _hot(hot: HotFunction, folder: str) -> dict[str, Any]:
    file = code_path(hot.file, folder)
    return {"function": hot.function, "file": file, "line": hot.line, "share": value_or_none(hot.share)}


def _found_first(diagnosis: Diagnosis) -> list[Finding]:
    return sorted(diagnosis.findings, key=lambda finding: finding.status != FOUND)


def _finding(run: Run, signals: Signals, finding: Finding) -> dict[str, Any]:
    folder = run.meta.working_directory
    site = None if finding.site is None else {"file": short_path(finding.site.file, folder), "line": finding.site.line}
    return {
        "cause": finding.cause,
        "status": finding.status,
        "explained_by": finding.explained_by,
        "loader": None if finding.loader is None else clean(finding.loader, folder),
        "site": site,
        "step_share": None if finding.step_share is None else asdict(finding.step_share),
        "confidence": finding.confidence,
        "reasons": [clean(reason, folder) for reason in finding.reasons],
        "evidence": [asdict(entry) | {"text": clean(entry.text, folder)} for entry in finding.evidence],
        "prescription": _prescription(run, signals, finding),
        "gain": _gain(finding.gain),
        "promised": _gain(finding.promised),
        **_measured(finding),
    }


def _measured(finding: Finding) -> dict[str, Any]:
    """Of a finding whose prescription was tried: the runs that its gain is of."""
    return {} if finding.measured is None else {"measured": treated.as_json(finding.measured)}


def _prescription(run: Run, signals: Signals, finding: Finding) -> dict[str, Any] | None:
    prescription = finding.prescription
    if prescription is None:
        return None
    return {
        "settings": dict(prescription.settings),
        "patch": patch_of(run, signals, finding),
        "advice": clean(prescription.advice, run.meta.working_directory),
        "memory_bytes": prescription.memory_bytes,
        "safety": prescription.safety,
        "actions": [_action(action, run.meta.working_directory) for action in _actions(prescription)],
    }


def _actions(prescription: Prescription) -> list[Action]:
    """What is to be done, settings first: they are actions like any other."""
    settings = [Action("setting", "", name=name, value=value) for name, value in prescription.settings.items()]
    return [*settings, *prescription.actions]


def _action(action: Action, folder: str) -> dict[str, Any]:
    site = None if action.site is None else {"file": short_path(action.site.file, folder), "line": action.site.line}
    return asdict(action) | {"site": site, "text": clean(action.text, folder), "example": clean(action.example, folder)}


def _gain(gain: Gain | None) -> dict[str, Any] | None:
    return None if gain is None else {"speedup": asdict(gain.speedup), "basis": gain.basis}


def _interval(value: Value) -> dict[str, float] | None:
    return asdict(Interval.of(value)) if isinstance(value, Measured) else None


def _plain_of(make: Callable[[], Any]) -> Any:
    return _plain(make())


def _plain(value: Any) -> Any:
    """JSON has no infinity and no NaN; both are "not known" to who reads it."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        entries: Mapping[Any, Any] = value
        return {shortened(str(key)): _plain(entry) for key, entry in entries.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, str):
        return value if value.startswith("--- a/") else shortened(value)  # a patch is whole or none
    return value if value is None or isinstance(value, (bool, int, float)) else shortened(str(value))
