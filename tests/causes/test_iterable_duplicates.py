"""iterable-duplicates: found, in healthy runs too, where two workers make the same batches."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, fed, on_a_cpu
from builders import exact

from loaderdoctor.analyse.signals import OrderSignals
from loaderdoctor.causes import diagnose
from loaderdoctor.causes.order.iterable_duplicates import REPEATED
from loaderdoctor.values import Missing


def stream(repeated=1.0, workers=3, kind="iterable"):
    share = exact(repeated) if isinstance(repeated, float) else repeated
    return replace(fed(workers, settings={"dataset_kind": kind}), order=OrderSignals(repeated_share=share))


def test_found_in_a_run_that_is_fed_as_a_fault_of_what_is_trained_on():
    diagnosis = diagnose(on_a_cpu(stream()))
    found = [one for one in diagnosis.findings if one.status == "found"]
    assert (diagnosis.status, [one.cause for one in found]) == ("healthy", ["iterable-duplicates"])
    assert found[0].gain.speedup.best == 1.0
    assert found[0].prescription.safety == "changes-results"
    assert "get_worker_info" in found[0].prescription.actions[0].example


@pytest.mark.parametrize(("share", "status"), [(REPEATED.value, "found"), (REPEATED.value - 0.01, "ruled-out")])
def test_a_few_equal_batches_are_chance(share, status):
    assert answer("iterable-duplicates", on_a_cpu(stream(share))).status == status


@pytest.mark.parametrize(("workers", "kind"), [(1, "iterable"), (3, "map")])
def test_nobody_repeats_a_sampler_or_a_single_worker(workers, kind):
    assert answer("iterable-duplicates", on_a_cpu(stream(workers=workers, kind=kind))).status == "not-applicable"


def test_batches_that_are_all_alike_say_nothing():
    finding = answer("iterable-duplicates", on_a_cpu(stream(Missing("batches-alike", "All are alike."))))
    assert (finding.status, finding.reasons) == ("no-data", ("All are alike.",))
