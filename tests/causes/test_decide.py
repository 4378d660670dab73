"""The verdict as a table: status from the starved share, the cause from the findings, the limit from either."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import fed, on_a_cpu, on_a_gpu, workers_busy
from builders import exact, machine, signals, steps

from loaderdoctor.causes import CAUSES, diagnose
from loaderdoctor.causes.base import Cause, Change, Evidence, Gain, Interval, Signal, Threshold, Treatment
from loaderdoctor.causes.decide import CROWDED, MOST_LOST, diagnose_with
from loaderdoctor.causes.gates import at_least
from loaderdoctor.values import Measured, Missing

# The share's low, best and high in percent, steps after warm-up -> status.
STATUS = """
    0.0   0.1   0.3    200  ->  healthy
    4.0   4.9   5.9    200  ->  healthy
    4.0   5.0   5.9    200  ->  starving
   40.0  50.0  60.0    200  ->  starving
    2.4   5.0  10.1    200  ->  unknown
    2.5   5.0  99.0    200  ->  starving
    2.4   5.0  10.0    200  ->  unknown
    2.4   4.9  10.0    200  ->  healthy
    2.5   4.9  10.1    200  ->  unknown
    0.1   4.0  30.0    200  ->  unknown
      -     -     -    200  ->  unknown
   40.0  50.0  60.0     20  ->  starving
   40.0  50.0  60.0     19  ->  not-enough-data
      -     -     -     19  ->  not-enough-data
"""

# What the causes a, b (a fault each, with the low end of its gain) and L (a limit) find, and the share -> cause, limit.
VERDICTS = """
    a=1.5  b=1.2  L   50 %  ->  a  a
    a=1.2  b=1.5  L   50 %  ->  b  b
    a=1.5  b=-    -   50 %  ->  a  a
    a=-    b=-    L   50 %  ->  -  -
    a=-    b=-    -   50 %  ->  -  -
    a=1.5  b=1.2  L    1 %  ->  -  L
    a=1.5  b=1.2  -    1 %  ->  -  -
    a=-    b=-    L    1 %  ->  -  L
"""


def rows(table):
    return [line.strip() for line in table.strip().splitlines()]


def cause(id_, *, low=None, settings=1, limit=False, fails=False, needs=(), explains=()):
    """A cause that finds itself with this gain, or nothing."""

    def treat(_signals, _loader):
        if fails:
            raise ZeroDivisionError
        if low is None:
            return (Evidence("Nothing cures it", 1.0),)
        gain = Gain(Interval(low, low + 0.1, low + 0.2), "simulated")
        return Treatment("Change it.", Change({f"setting{n}": n for n in range(settings)}), gain=gain)

    gates = tuple(at_least(Signal(need, "It"), Threshold(0.0, "share", "Any.")) for need in needs)
    return Cause(id_, id_, gates, None if limit else treat, scope="run", is_limit=limit, explains=explains)


def run_with(percent):
    return on_a_cpu(replace(workers_busy(), workload=None), share=percent / 100)


@pytest.mark.parametrize("row", rows(STATUS))
def test_status(row):
    *share, count, _, status = row.split()
    value = Missing("no-clock", "No clock.")
    if share[0] != "-":
        low, best, high = (float(part) / 100 for part in share)
        value = Measured(best, low, high, 100, "share")
    run = on_a_cpu(fed(), starved_share=value, steps=steps(count=int(count), excluded={"warm-up": 50}))
    verdict = diagnose_with((), run)
    assert verdict.status == status
    assert bool(verdict.reason) == (status != "healthy")


def test_steps_left_out_after_warm_up_count_as_recorded():
    run = on_a_cpu(fed(), steps=steps(count=10, excluded={"warm-up": 50, "first-of-epoch": 10}))
    assert diagnose_with((), run).status == "healthy"


@pytest.mark.parametrize("row", rows(VERDICTS))
def test_cause_and_limit(row):
    a, b, limit, percent, _, _, named, limited = row.split()
    causes = [cause(text[0], low=None if text[2:] == "-" else float(text[2:])) for text in (a, b)]
    if limit == "L":
        causes.append(cause("L", limit=True))
    verdict = diagnose_with(causes, run_with(float(percent)))
    assert [verdict.cause or "-", verdict.limit or "-"] == [named, limited]


def test_of_equal_gains_the_smaller_change_comes_first():
    causes = [cause("edit", low=1.5, settings=0), cause("two", low=1.5, settings=2), cause("one", low=1.501)]
    verdict = diagnose_with(causes, run_with(50))
    assert [finding.cause for finding in verdict.findings] == ["one", "two", "edit"]


def test_a_found_cause_takes_the_place_of_its_symptom_however_large_the_symptoms_gain():
    verdict = diagnose_with([cause("symptom", low=1.9), cause("root", low=1.2, explains=("symptom",))], run_with(50))
    assert verdict.cause == "root"
    assert [(one.cause, one.status, one.explained_by) for one in verdict.findings] == [
        ("root", "found", None),
        ("symptom", "explained", "root"),
    ]


def test_a_symptom_without_its_cause_stands_for_itself():
    verdict = diagnose_with([cause("symptom", low=1.9), cause("root", explains=("symptom",))], run_with(50))
    assert verdict.cause == "symptom"


def test_a_healthy_run_rules_every_fault_out_with_its_share():
    verdict = diagnose_with([cause("a", low=1.5)], run_with(1))
    assert verdict.findings[0].status == "ruled-out"
    assert verdict.findings[0].evidence[0].value == pytest.approx(0.01)
    assert verdict.findings[0].gain is None


@pytest.mark.parametrize("share", [Missing("background-consumer", "Not known."), Measured(0.05, 0, 0.5, 9, "share")])
def test_without_a_known_share_nothing_is_found_and_nothing_promised(share):
    run = replace(run_with(50), starved_share=share)
    verdict = diagnose_with([cause("a", low=1.5), cause("L", limit=True), cause("b")], run)
    faulty = diagnose_with([cause("iterable-duplicates", low=1.0)], run)
    assert (faulty.cause, faulty.findings[0].status) == (None, "found"), "a fault of the data is one at any speed"
    assert (verdict.status, verdict.cause, verdict.limit, verdict.combined_gain) == ("unknown", None, None, None)
    assert {f.cause: f.status for f in verdict.findings} == {"a": "no-data", "L": "no-data", "b": "ruled-out"}
    assert {f.reasons for f in verdict.findings if f.status == "no-data"} == {(verdict.reason,)}


def test_a_loader_that_is_not_torchs_gets_no_advice_on_settings():
    dali = replace(fed().settings, num_workers=0, torch_loader=False, loader_type="nvidia.dali.DALIGenericIterator")
    for workload in (None, workers_busy(0).workload):
        one = replace(workers_busy(0), settings=dali, workload=workload)
        runs = [on_a_cpu(one), on_a_gpu(one, copy_share=0.4, pinned_share=0.0)]
        for finding in (finding for run in runs for finding in diagnose(run).findings):
            assert finding.prescription is None or not finding.prescription.settings, finding.cause


def test_one_cause_that_fails_costs_only_its_own_answer():
    verdict = diagnose_with([cause("bad", fails=True), cause("good", low=1.5)], run_with(50))
    assert verdict.cause == "good"
    assert (verdict.findings[1].cause, verdict.findings[1].status) == ("bad", "no-data")
    assert "ZeroDivisionError" in verdict.findings[1].reasons[0]


@pytest.mark.parametrize(
    ("slug", "status"), [("lost", "no-data"), ("no-device", "not-applicable"), ("no-workers", "not-applicable")]
)
def test_a_missing_need_is_answered_with_its_reason(slug, status):
    run = run_with(50)
    run = replace(run, loaders=(replace(run.loaders[0], fetch_s=Missing(slug, "It is gone.")),))
    verdict = diagnose_with([cause("a", low=1.5, needs=("loader.fetch_s",))], run)
    assert (verdict.findings[0].status, verdict.findings[0].reasons) == (status, ("It is gone.",))
    assert verdict.cause is None


def test_a_workload_that_was_not_recorded_is_missing_too():
    assert diagnose_with([cause("a", low=2, needs=("loader.workload",))], run_with(50)).findings[0].status == "no-data"


def test_too_few_steps_answer_no_cause_and_no_what_if():
    verdict = diagnose(on_a_cpu(workers_busy(), steps=steps(count=5, excluded={})))
    assert {finding.status for finding in verdict.findings} == {"no-data"}
    assert verdict.what_if == ()


def test_without_a_loader_there_is_no_data():
    verdict = diagnose(signals(loaders=(), starved_share=Missing("no-loader", "No DataLoader was seen.")))
    assert (verdict.status, verdict.reason) == ("unknown", "No DataLoader was seen.")
    assert len(verdict.findings) == len(CAUSES)
    assert {finding.status for finding in verdict.findings} == {"no-data"}


def test_a_wait_that_nothing_explains_says_so_and_what_stands_in_the_way():
    verdict = diagnose(on_a_cpu(workers_busy(2, cores=2.0, work={"cpu_s": 0.03, "blocked_s": 0.0})))
    assert (verdict.status, verdict.cause, verdict.limit) == ("starving", None, None)
    assert "No core is free" in verdict.reason


@pytest.mark.parametrize(("busy", "told"), [(CROWDED.value, True), (CROWDED.value - 0.01, False)])
def test_a_wait_that_nothing_explains_may_be_the_neighbours(busy, told):
    crowded = replace(run_with(50), machine=machine(neighbour_allowed_cpu_share=exact(busy)))
    assert ("quiet machine" in diagnose_with((), crowded).reason) == told


def test_every_loader_is_asked_and_the_worse_one_named():
    little = replace(workers_busy(wait=0.05), id="train.py:7")
    verdict = diagnose(on_a_cpu(little, workers_busy(wait=0.5), share=0.55))
    found = [finding for finding in verdict.findings if finding.status == "found"]
    assert [(finding.cause, finding.loader) for finding in found] == [
        ("too-few-workers", "train.py:42"),
        ("too-few-workers", "train.py:7"),
    ]


def test_gains_are_joined_by_the_seconds_that_they_save():
    verdict = diagnose(on_a_cpu(workers_busy(wait=0.4), replace(workers_busy(wait=0.3), id="train.py:7"), share=0.5))
    both = [finding.gain.speedup.best for finding in verdict.findings if finding.status == "found"]
    saved = sum(1 - 1 / speedup for speedup in both)
    assert verdict.combined_gain.speedup.best == pytest.approx(1 / (1 - saved))
    assert verdict.combined_gain.speedup.low <= verdict.combined_gain.speedup.best <= verdict.combined_gain.speedup.high


def test_one_finding_has_no_gain_to_join():
    assert diagnose(on_a_cpu(workers_busy())).combined_gain is None


def test_the_prescription_is_a_row_of_the_what_if_table():
    verdict = diagnose(on_a_cpu(workers_busy(0), share=0.33))
    assert verdict.findings[0].cause == "no-workers"
    row = next(row for row in verdict.what_if if row.settings == verdict.findings[0].prescription.settings)
    assert row.speedup == verdict.findings[0].gain.speedup


@pytest.mark.parametrize(
    ("device", "named"),
    [
        ({"copy_share": 0.4, "pinned_share": 0.0}, "unpinned-memory"),
        ({"copy_share": 0.4, "blocking_share": 1.0}, "blocking-h2d"),
        ({"copy_share": 0.4}, "payload-too-wide"),
        ({"copy_share": 0.001}, None),
    ],
)
def test_each_slow_copy_has_one_cause(device, named):
    run = on_a_gpu(replace(fed(), settings=replace(fed().settings, pin_memory=True)), **device)
    found = [finding.cause for finding in diagnose(run).findings if finding.status == "found"]
    assert found == ([named] if named else [])


@pytest.mark.parametrize(("share", "status"), [(MOST_LOST.value, "unknown"), (MOST_LOST.value * 0.9, "starving")])
def test_a_run_of_which_much_was_lost_has_no_verdict(share, status):
    verdict = diagnose_with((), replace(run_with(50), lost_share=share))
    assert verdict.status == status
    assert ("could not be written" in verdict.reason) == (status == "unknown")
