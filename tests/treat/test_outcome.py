"""What trials came to: kept in the run, read back with suspicion, told beside the promise."""

from __future__ import annotations

import json
import stat
from dataclasses import replace

import pytest

from loaderdoctor.causes.base import Action, Diagnosis, Finding, Gain, Interval, Prescription
from loaderdoctor.predict.measured import Outcome
from loaderdoctor.treat.outcome import FILE, MOST_KEPT, keep, kept, with_measured

MEASURED = Interval(1.8, 1.9, 2.0)
OUTCOME = Outcome(
    loader="train.py:42",
    settings={"num_workers": 4, "prefetch_factor": None},
    variables={"OMP_NUM_THREADS": "1"},
    speedup=MEASURED,
    runs=4,
    steps=100,
    cause="no-workers",
    promised=Interval(1.5, 1.8, 2.2),
    starved_before=0.5,
    starved_after=0.02,
)


@pytest.mark.parametrize(
    ("promised", "verdict"),
    [
        (None, "no-promise"),
        (Interval(1.5, 1.7, 1.85), "came-true"),
        (Interval(1.95, 2.1, 2.3), "came-true"),
        (Interval(1.2, 1.5, 1.7), "above-promise"),
        (Interval(2.1, 2.5, 3.0), "below-promise"),
    ],
)
def test_a_promise_came_true_where_the_intervals_meet(promised, verdict):
    assert replace(OUTCOME, promised=promised).verdict == verdict


def test_it_is_kept_for_its_owner_and_read_back(tmp_path):
    path = keep(tmp_path, OUTCOME)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert kept(tmp_path) == (OUTCOME,)


def test_the_same_remedy_takes_the_place_of_an_earlier_one(tmp_path):
    other = replace(OUTCOME, settings={"num_workers": 2}, cause=None, promised=None)
    ceiling = replace(OUTCOME, is_ceiling=True)
    for one in (OUTCOME, other, ceiling, replace(OUTCOME, runs=8)):
        keep(tmp_path, one)
    assert kept(tmp_path) == (other, ceiling, replace(OUTCOME, runs=8))


def test_no_run_keeps_more_than_anybody_reads(tmp_path):
    for workers in range(MOST_KEPT + 2):
        keep(tmp_path, replace(OUTCOME, settings={"num_workers": workers}))
    assert [one.settings["num_workers"] for one in kept(tmp_path)] == list(range(2, MOST_KEPT + 2))


def row(**fields):
    good = {"loader": "a.py:1", "settings": {}, "variables": {}, "runs": 4, "steps": 9}
    return good | {"speedup": {"low": 1, "best": 2, "high": 3}} | fields


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        json.dumps({"schema": "another/9", "treated": [row()]}),
        json.dumps({"schema": "loaderdoctor.treated/1", "treated": {}}),
        *(
            json.dumps({"schema": "loaderdoctor.treated/1", "treated": [bad]})
            for bad in (
                None,
                {},
                row(speedup=3),
                row(speedup={"low": 2, "best": 1, "high": 3}),
                row(speedup={"low": 0, "best": 1, "high": 3}),
                row(speedup={"low": 1, "best": 1, "high": float("inf")}),
                row(settings={"<script>": 1}),
                row(settings={"num_workers": "<script>"}),
                row(runs="many"),
                row(promised=[]),
                row(starved_before="much"),
            )
        ),
    ],
)
def test_what_says_nothing_sound_says_nothing(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    assert kept(tmp_path) == ()


def test_sound_ones_are_read_beside_others(tmp_path):
    (tmp_path / FILE).write_text(json.dumps({"schema": "loaderdoctor.treated/1", "treated": [row(), {}, 3]}))
    assert [one.loader for one in kept(tmp_path)] == ["a.py:1"]


THREADS = Action("environment", "", name="OMP_NUM_THREADS", value="1")
PRESCRIBED = Prescription({"num_workers": 4, "prefetch_factor": None}, actions=(THREADS,))
PROMISE = Gain(Interval(1.5, 1.8, 2.2), "simulated")
FINDING = Finding("no-workers", "found", loader="train.py:42", gain=PROMISE, prescription=PRESCRIBED)


def told(finding, *outcomes):
    diagnosis = Diagnosis("starving", "no-workers", None, (finding,), ())
    return with_measured(diagnosis, outcomes).findings[0]


def test_the_gain_is_the_measured_one_and_the_promise_stands_beside_it():
    finding = told(FINDING, OUTCOME)
    assert (finding.gain, finding.promised) == (Gain(MEASURED, "measured"), PROMISE)
    assert finding.measured == OUTCOME


@pytest.mark.parametrize(
    ("finding", "outcome"),
    [
        (FINDING, replace(OUTCOME, settings={"num_workers": 2})),
        (FINDING, replace(OUTCOME, variables={})),
        (FINDING, replace(OUTCOME, cause="too-few-workers")),
        (FINDING, replace(OUTCOME, loader="train.py:7")),
        (replace(FINDING, status="explained"), OUTCOME),
        (replace(FINDING, prescription=None), OUTCOME),
    ],
)
def test_what_was_tried_of_something_else_leaves_a_finding_as_it_is(finding, outcome):
    assert told(finding, outcome) == finding
    assert with_measured(Diagnosis("starving", None, None, (finding,), ()), (outcome,)).treated == (outcome,)
