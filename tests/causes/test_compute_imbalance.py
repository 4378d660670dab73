"""compute-imbalance: the limit of a job that is fed and whose ranks compute for different times."""

from __future__ import annotations

import pytest
from ailing import answer, fed, on_a_cpu, workers_busy
from builders import exact

from loaderdoctor.analyse.signals import JobSignals
from loaderdoctor.causes.not_the_loader.compute_imbalance import UNEQUAL
from loaderdoctor.values import Missing


def uneven(one, spread):
    return on_a_cpu(one, ranks=2, job=JobSignals(compute_spread=spread))


@pytest.mark.parametrize(("spread", "status"), [(UNEQUAL.value, "found"), (UNEQUAL.value - 0.01, "ruled-out")])
def test_ranks_that_differ_by_less_are_equal(spread, status):
    assert answer("compute-imbalance", uneven(fed(), exact(spread, "times"))).status == status


def test_a_job_that_starves_has_another_limit():
    assert answer("compute-imbalance", uneven(workers_busy(), exact(3.0, "times"))).status == "ruled-out"


def test_without_the_ranks_cpu_time_nothing_is_said():
    finding = answer("compute-imbalance", uneven(fed(), Missing("rank-cpu-not-sampled", "It was not sampled.")))
    assert (finding.status, finding.reasons) == ("no-data", ("It was not sampled.",))


def test_one_process_has_nobody_to_differ_from():
    assert answer("compute-imbalance", on_a_cpu(fed())).status == "not-applicable"
