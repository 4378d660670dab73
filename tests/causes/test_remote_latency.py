"""remote-latency: found where busy workers wait for something that is no disk, and more of them would wait side by side."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, on_a_cpu, workers_busy
from builders import exact
from slow_reads import LINE, disk, making

from loaderdoctor.analyse.signals import ReadSignals
from loaderdoctor.causes import diagnose
from loaderdoctor.causes.gates import WORKERS_BUSY
from loaderdoctor.causes.storage.remote_latency import ANSWERS, OWN_THREADS


def asking(blocked=0.83, **overrides):
    """Workers that compute 5 ms and wait 25 ms for each batch."""
    given = {
        "fetch_blocked_share": exact(blocked),
        "fetch_disk_share": exact(0.0),
        "fetch_cpu_share": exact(1 - blocked),
    }
    return workers_busy(2, reads=ReadSignals(waiting_site=LINE), **{**given, **overrides})


def test_found_with_more_workers_and_the_line_that_waits():
    finding = answer("remote-latency", on_a_cpu(asking()))
    assert (finding.status, finding.gain.basis) == ("found", "simulated")
    assert finding.prescription.settings == {"num_workers": 4}
    assert finding.prescription.actions[0].site == LINE


def test_it_takes_the_place_of_too_few_workers():
    said = {one.cause: one for one in diagnose(on_a_cpu(asking())).findings}
    assert (said["too-few-workers"].status, said["too-few-workers"].explained_by) == ("explained", "remote-latency")


@pytest.mark.parametrize(("blocked", "status"), [(ANSWERS.value, "found"), (ANSWERS.value - 0.01, "ruled-out")])
def test_work_that_mostly_computes_is_another_illness(blocked, status):
    assert answer("remote-latency", on_a_cpu(asking(blocked))).status == status


@pytest.mark.parametrize(("busy", "status"), [(WORKERS_BUSY.value, "found"), (WORKERS_BUSY.value - 0.01, "ruled-out")])
def test_workers_that_idle_are_not_what_the_training_waits_for(busy, status):
    assert answer("remote-latency", on_a_cpu(asking(worker_busy_share=exact(busy)))).status == status


def test_a_local_disk_is_another_illness_and_a_network_drive_is_this_one():
    waits_for_files = asking(0.0, fetch_disk_share=exact(0.83))
    assert answer("remote-latency", on_a_cpu(waits_for_files, disk=disk())).status == "ruled-out"
    assert answer("remote-latency", on_a_cpu(waits_for_files, disk=disk(kind="network"))).status == "found"


def test_a_worker_that_waits_for_its_own_threads_is_another_illness():
    own = making(worker_cores=exact(1.0, "cores"), worker_other_threads_share=exact(OWN_THREADS.value))
    assert answer("remote-latency", on_a_cpu(asking(making=own))).status == "ruled-out"


def test_more_workers_that_gain_nothing_are_not_prescribed():
    one = asking()
    fast = replace(one.workload, batches=tuple(replace(batch, blocked_s=0.0) for batch in one.workload.batches))
    assert answer("remote-latency", on_a_cpu(replace(one, workload=fast))).status == "ruled-out"
