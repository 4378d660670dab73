"""cpu-augment: transforms and arrays take the CPUs, neither decoding nor the interpreter."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, computing, hot, on_a_cpu

from loaderdoctor.causes.cpu_work.cpu_augment import ALONE, BESIDE
from loaderdoctor.causes.cpu_work.cures import MAIN_PART
from loaderdoctor.values import Missing


def test_found_at_the_hottest_transform():
    finding = answer("cpu-augment", on_a_cpu(computing(transform=0.6, array=0.2, places=(hot("transform"),))))
    assert (finding.status, finding.prescription.settings) == ("found", {})
    assert finding.gain.speedup.best > 1.2
    assert finding.prescription.actions[0].site.line == 41
    assert finding.prescription.safety == "changes-results"


@pytest.mark.parametrize(
    ("share", "status"), [(MAIN_PART.value + 0.05, "found"), (MAIN_PART.value - 0.01, "ruled-out")]
)
def test_a_small_part_of_the_work_is_not_it(share, status):
    assert answer("cpu-augment", on_a_cpu(computing(transform=share))).status == status


def test_own_code_that_is_mostly_interpreted_is_another_illness():
    run = on_a_cpu(computing(python=0.55, array=0.4))
    assert answer("cpu-augment", run).status == "ruled-out"
    assert answer("python-overhead", run).status == "found"


def test_decoding_is_another_illness():
    finding = answer("cpu-augment", on_a_cpu(computing(decode=0.9)))
    assert (finding.status, finding.evidence[0].value) == ("ruled-out", 0.0)


@pytest.mark.parametrize(("transform", "status"), [(0.6, "found"), (0.1, "no-data")])
def test_without_a_profile_known_transforms_alone_must_be_enough(transform, status):
    one = computing(transform=transform)
    missing = Missing("no-profile", "No batch was profiled.")
    code = replace(one.code, array_share=missing, python_share=missing)
    assert answer("cpu-augment", on_a_cpu(replace(one, code=code))).status == status


@pytest.mark.parametrize(
    ("shares", "status"),
    [
        ({"array": ALONE.value + 0.02}, "found"),
        ({"array": ALONE.value - 0.02}, "ruled-out"),
        ({"array": 0.4, "transform": BESIDE.value + 0.02}, "found"),
        ({"array": 0.4, "transform": BESIDE.value - 0.02}, "ruled-out"),
    ],
)
def test_calls_without_a_name_count_beside_transforms_or_as_most_of_the_work(shares, status):
    assert answer("cpu-augment", on_a_cpu(computing(**shares))).status == status
