"""too-many-workers: found where workers take turns on the cores and fewer of them would be faster."""

from __future__ import annotations

import pytest
from ailing import answer, on_a_cpu, workers_busy
from builders import exact, machine

from loaderdoctor.analyse.signals import MakingSignals
from loaderdoctor.causes.workers.too_many_workers import QUEUEING


def crowded(count=16, *, calls=16.0, kind="iterable", **overrides):
    """A stream of which every worker goes through all: batches of 76 ms of computing are used in 20 ms, on two cores."""
    return workers_busy(
        count,
        wait=0.4,
        cores=2.0,
        work={"cpu_s": 0.076, "blocked_s": 0.001, "compute_s": 0.02, "wait_s": 0.02},
        **{
            "settings": {"dataset_kind": kind},
            "fetch_run_queue_share": exact(0.85),
            "fetch_cpu_share": exact(0.14),
            "making": MakingSignals(calls_per_sample=exact(calls, "calls"), worker_torch_threads=exact(1.0, "threads")),
            **overrides,
        },
    )


def on_two_cores(one, **overrides):
    return on_a_cpu(one, machine=machine(cpus_allowed=exact(2.0, "cpus"), **overrides))


def test_found_where_each_worker_repeats_the_stream():
    finding = answer("too-many-workers", on_two_cores(crowded()))
    assert finding.status == "found"
    assert finding.prescription.settings["num_workers"] in {1, 2}
    assert finding.gain.speedup.low > 1.05


@pytest.mark.parametrize(("share", "status"), [(QUEUEING.value, "found"), (QUEUEING.value - 0.01, "ruled-out")])
def test_workers_that_have_a_core_more_often_than_not_are_not_too_many(share, status):
    one = crowded(fetch_run_queue_share=exact(share), fetch_cpu_share=exact(0.4))
    assert answer("too-many-workers", on_two_cores(one)).status == status


@pytest.mark.parametrize(("kind", "calls"), [("map", 16.0), ("iterable", 1.0)])
def test_work_that_nobody_repeats_is_done_no_faster_by_fewer(kind, calls):
    finding = answer("too-many-workers", on_two_cores(crowded(kind=kind, calls=calls)))
    assert (finding.status, finding.evidence[0].unit) == ("ruled-out", "times as fast")


@pytest.mark.parametrize(
    ("name", "value"), [("neighbour_allowed_cpu_share", 0.6), ("throttled_share", 0.2), ("cpus_allowed", 16.0)]
)
def test_cores_that_others_take_or_that_are_there_are_another_illness(name, value):
    run = on_a_cpu(crowded(), machine=machine(**{"cpus_allowed": exact(2.0, "cpus"), name: exact(value)}))
    assert answer("too-many-workers", run).status == "ruled-out"


def test_threads_in_each_worker_are_another_illness():
    one = crowded(making=MakingSignals(calls_per_sample=exact(16.0), worker_torch_threads=exact(8.0, "threads")))
    assert answer("too-many-workers", on_two_cores(one)).status == "ruled-out"


def test_work_that_waits_may_have_more_workers_than_cores():
    one = crowded(fetch_cpu_share=exact(0.02), fetch_run_queue_share=exact(0.6))
    assert answer("too-many-workers", on_two_cores(one)).status == "ruled-out"
