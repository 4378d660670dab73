"""comm-bound: what ranks spend on exchanging gradients is not recorded, and what would tell it is said."""

from __future__ import annotations

import pytest
from ailing import answer, fed, on_a_cpu, workers_busy
from builders import exact

from loaderdoctor.analyse.signals import JobSignals
from loaderdoctor.causes.not_the_loader.comm_bound import EXCHANGING


def test_without_the_time_in_collectives_it_says_what_would_tell():
    finding = answer("comm-bound", on_a_cpu(fed(), ranks=2))
    assert finding.status == "no-data"
    assert "no_sync()" in finding.reasons[0]


@pytest.mark.parametrize(("share", "status"), [(EXCHANGING.value, "found"), (EXCHANGING.value - 0.01, "ruled-out")])
def test_where_it_is_known_most_of_a_step_makes_it_the_limit(share, status):
    run = on_a_cpu(fed(), ranks=2, job=JobSignals(exchange_share=exact(share)))
    assert answer("comm-bound", run).status == status


def test_a_job_that_waits_for_data_has_another_limit():
    assert answer("comm-bound", on_a_cpu(workers_busy(), ranks=2)).status == "ruled-out"


def test_one_process_exchanges_nothing():
    assert answer("comm-bound", on_a_cpu(fed())).status == "not-applicable"
