"""thread-oversubscription: found where pools of the workers want more CPUs than there are, and stand in line."""

from __future__ import annotations

import pytest
from ailing import answer, workers_busy
from builders import exact
from slow_reads import computing, making

from loaderdoctor.causes import diagnose
from loaderdoctor.causes.environment.thread_oversubscription import IN_LINE, OTHER_THREADS, TOO_MANY
from loaderdoctor.values import Missing


def pools(threads=18.0, *, others=0.8, in_line=0.6, **overrides):
    """Two workers on two CPUs, each with a pool."""
    own = making(worker_threads=exact(threads, "threads"), worker_other_threads_share=exact(others))
    return workers_busy(
        2,
        making=own,
        fetch_run_queue_share=exact(in_line),
        fetch_blocked_share=exact(0.15),
        fetch_cpu_share=exact(0.85 - in_line),
        **overrides,
    )


def test_found_with_one_thread_a_worker():
    finding = answer("thread-oversubscription", computing(pools()))
    assert (finding.status, finding.gain.basis, finding.prescription.settings) == ("found", "bound", {})
    assert [action.kind for action in finding.prescription.actions] == ["code", "environment"]


def test_nothing_else_is_named_while_threads_fight():
    assert [one.cause for one in diagnose(computing(pools())).findings if one.status == "found"] == [
        "thread-oversubscription"
    ]


@pytest.mark.parametrize(
    ("share", "status"), [(OTHER_THREADS.value, "found"), (OTHER_THREADS.value - 0.01, "ruled-out")]
)
def test_workers_of_one_thread_that_stand_in_line_are_too_many(share, status):
    assert answer("thread-oversubscription", computing(pools(others=share))).status == status


@pytest.mark.parametrize(("a_cpu", "status"), [(TOO_MANY.value, "found"), (TOO_MANY.value - 0.1, "ruled-out")])
def test_pools_that_fit_the_machine_are_none_of_it(a_cpu, status):
    assert answer("thread-oversubscription", computing(pools(2 + a_cpu))).status == status


@pytest.mark.parametrize(("share", "status"), [(IN_LINE.value, "found"), (IN_LINE.value - 0.01, "ruled-out")])
def test_threads_that_wait_for_nobody_do_no_harm(share, status):
    assert answer("thread-oversubscription", computing(pools(in_line=share))).status == status


def test_a_run_that_was_not_sampled_gives_no_data():
    own = making(worker_other_threads_share=Missing("not-sampled", "Not sampled."))
    assert answer("thread-oversubscription", computing(workers_busy(2, making=own))).status == "no-data"
