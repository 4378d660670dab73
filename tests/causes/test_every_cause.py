"""What every cause must have: a place in the list, a page, tests, reasons for its thresholds, signals that exist."""

from __future__ import annotations

import ast
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest
from ailing import fed, on_a_cpu, on_a_gpu, workers_busy

from loaderdoctor import causes
from loaderdoctor.analyse.signals import (
    BrokenSignals,
    CodeSignals,
    DeviceSignals,
    DiskSignals,
    HardwareSignals,
    JobSignals,
    LoaderSignals,
    LoopSignals,
    MachineSignals,
    MakingSignals,
    OrderSignals,
    PassSignals,
    ReadSignals,
    Signals,
    StepSignals,
    TrainingSignals,
)
from loaderdoctor.causes import CAUSES, diagnose, get, page, subsystem, titles
from loaderdoctor.causes.base import Threshold
from loaderdoctor.report.causes_en import CAUSES as SAID

FOLDER = Path(causes.__file__).parent
HEADINGS = ["What it means", "How loaderdoctor sees it", "Fix", "When this is wrong", "Check that it worked"]
OWNERS = {
    "": Signals,
    "loader": LoaderSignals,
    "loader.making": MakingSignals,
    "loader.reads": ReadSignals,
    "loader.passes": PassSignals,
    "hardware": HardwareSignals,
    "loader.code": CodeSignals,
    "loop": LoopSignals,
    "loader.order": OrderSignals,
    "broken": BrokenSignals,
    "job": JobSignals,
    "training": TrainingSignals,
    "device": DeviceSignals,
    "disk": DiskSignals,
    "machine": MachineSignals,
    "steps": StepSignals,
}
SHARED = ("gates", "engine", "decide", "not_the_loader.fed", "storage.reading", "order.gaps")
EVERY = pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.id)


def module_of(cause):
    return f"loaderdoctor.causes.{path_of(cause)}"


def path_of(cause):
    return f"{subsystem(cause.id)}.{cause.id.replace('-', '_')}"


def test_the_list_is_sorted_and_complete():
    assert [cause.id for cause in CAUSES] == sorted({cause.id for cause in CAUSES})
    pages = {path.stem for path in FOLDER.rglob("*.md")}
    assert {cause.id.replace("-", "_") for cause in CAUSES} == pages
    assert pages <= {path.stem for path in FOLDER.rglob("*.py")}


@EVERY
def test_it_is_what_its_file_is_called(cause):
    assert import_module(module_of(cause)).CAUSE is cause
    assert get(cause.id) is cause
    assert titles()[cause.id] == cause.title


@EVERY
def test_its_page_has_every_heading_with_something_below(cause):
    title, *sections = page(cause.id).split("\n## ")
    assert title.startswith("# ")
    assert [section.split("\n", 1)[0] for section in sections] == HEADINGS
    assert all(section.split("\n", 1)[1].strip() for section in sections)


@EVERY
def test_it_has_tests_of_its_own(cause):
    text = (Path(__file__).parent / f"test_{cause.id.replace('-', '_')}.py").read_text(encoding="utf-8")
    tests = [
        node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef) and node.name.startswith("test")
    ]
    least = 2 if cause.id == "timer-misattribution" else 3  # it is never found, so there is no edge to test
    assert len(tests) >= least


@EVERY
def test_it_asks_for_signals_that_exist(cause):
    asked = [*(gate.signal for gate in cause.gates), *cause.shows, *filter(None, [cause.slice])]
    for signal in asked:
        owner, _, name = signal.name.rpartition(".")
        assert name in {field.name for field in fields(OWNERS[owner])}, signal.name
        assert signal.text[0].isupper()
        assert not signal.text.endswith(".")


@EVERY
def test_what_it_explains_is_a_cause_of_another_name(cause):
    assert set(cause.explains) <= set(SAID) - {cause.id}


@EVERY
def test_nothing_explains_itself_by_way_of_others(cause):
    explains = {other.id: other.explains for other in CAUSES}
    seen, left = set(), list(cause.explains)
    while left:
        symptom = left.pop()
        if symptom not in seen:
            seen.add(symptom)
            left += explains.get(symptom, ())
    assert cause.id not in seen


@pytest.mark.parametrize("name", [path_of(cause) for cause in CAUSES] + list(SHARED))
def test_its_thresholds_say_why(name):
    module = import_module(f"loaderdoctor.causes.{name}")
    for threshold in (value for value in vars(module).values() if isinstance(value, Threshold)):
        assert threshold.why.endswith(".")
        assert threshold.unit


@pytest.mark.parametrize("cause_id", ["", "no-such-cause", "base"])
def test_an_unknown_cause_has_no_page(cause_id):
    with pytest.raises(KeyError):
        page(cause_id)


@pytest.mark.parametrize(
    "run",
    [
        on_a_cpu(fed()),
        on_a_cpu(workers_busy()),
        on_a_gpu(fed()),
        on_a_gpu(workers_busy(), copy_share=0.2, pinned_share=0.0),
        on_a_gpu(workers_busy(0), syncs_per_step=1.0, drained_share=1.0, sync_share=0.4),
    ],
    ids=["fed-cpu", "starving-cpu", "fed-gpu", "unpinned", "synced"],
)
def test_every_answer_says_why(run):
    for finding in diagnose(run).findings:
        assert finding.evidence or finding.reasons, finding
        if finding.status == "found":
            assert finding.prescription is not None
            assert finding.prescription.advice
            assert finding.gain.speedup.low <= finding.gain.speedup.best <= finding.gain.speedup.high
            assert finding.step_share is not None
            assert finding.confidence in {"high", "medium", "low"}
