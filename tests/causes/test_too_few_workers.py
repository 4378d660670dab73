"""too-few-workers: found where workers never idle and more of them would be faster."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, fed, on_a_cpu, on_a_gpu, workers_busy
from builders import around, exact

from loaderdoctor.causes.gates import WAITING, WORKERS_BUSY
from loaderdoctor.causes.workers.too_few_workers import CONTENDED


def test_found_with_as_many_as_keep_up():
    finding = answer("too-few-workers", on_a_cpu(workers_busy(2)))
    assert finding.status == "found"
    assert finding.prescription.settings == {"num_workers": 4}
    assert finding.gain.speedup.low < 1.5 < finding.gain.speedup.high


def test_work_that_waits_takes_more_workers_than_there_are_cores():
    finding = answer("too-few-workers", on_a_cpu(workers_busy(2, cores=2.0, work={"cpu_s": 0.001, "blocked_s": 0.05})))
    assert finding.prescription.settings["num_workers"] > 4


@pytest.mark.parametrize(("share", "status"), [(WORKERS_BUSY.value, "found"), (WORKERS_BUSY.value - 0.01, "ruled-out")])
def test_workers_just_below_the_threshold_idle(share, status):
    # The interval of a share: it is ruled out only where even its high end is below.
    one = workers_busy(worker_busy_share=exact(share))
    assert answer("too-few-workers", on_a_cpu(one)).status == status


@pytest.mark.parametrize(("wait", "status"), [(WAITING.value * 1.01, "found"), (WAITING.value * 0.99, "ruled-out")])
def test_a_wait_just_below_the_threshold_is_none(wait, status):
    one = workers_busy(exposed_wait_share=exact(wait))
    assert answer("too-few-workers", on_a_cpu(one)).status == status


def test_idle_workers_are_another_illness():
    finding = answer("too-few-workers", on_a_cpu(workers_busy(worker_busy_share=around(0.5))))
    assert (finding.status, finding.evidence[0].threshold) == ("ruled-out", WORKERS_BUSY.value)


def test_busy_cores_are_another_illness_and_named():
    one = workers_busy(2, cores=2.0, work={"cpu_s": 0.03, "blocked_s": 0.0})
    finding = answer("too-few-workers", on_a_cpu(one))
    assert finding.status == "ruled-out"
    assert finding.evidence[0].text.startswith("No core is free")


@pytest.mark.parametrize(("queued", "status"), [(CONTENDED.value - 0.01, "found"), (CONTENDED.value, "ruled-out")])
def test_batches_that_wait_for_a_core_show_too_many_processes(queued, status):
    one = workers_busy(fetch_run_queue_share=exact(queued))
    assert answer("too-few-workers", on_a_cpu(one)).status == status


def test_waits_between_epochs_are_another_illness():
    one = workers_busy(exposed_wait_share=exact(0.2), epoch_gap_share=exact(0.19))
    assert answer("too-few-workers", on_a_cpu(one)).status == "ruled-out"


def test_a_device_that_does_not_notice_is_fed():
    assert answer("too-few-workers", on_a_gpu(workers_busy(exposed_wait_share=exact(0.001)))).status == "ruled-out"


def test_a_loader_that_keeps_up_has_enough():
    assert answer("too-few-workers", on_a_cpu(fed())).status == "ruled-out"


def test_a_loader_without_workers_cannot_have_it():
    assert answer("too-few-workers", on_a_cpu(workers_busy(0))).status == "not-applicable"


def test_a_stream_needs_as_many_shards():
    one = workers_busy(settings={"dataset_kind": "iterable"})
    assert answer("too-few-workers", on_a_cpu(one)).prescription.safety == "changes-results"


@pytest.mark.parametrize(("epochs", "kept"), [(8, True), (1, False)])
def test_workers_are_kept_where_short_epochs_would_start_them_anew(epochs, kept):
    one = workers_busy(2, epochs=epochs, settings={"persistent_workers": False})
    batches = tuple(replace(batch, epoch=k * epochs // 200) for k, batch in enumerate(one.workload.batches))
    short = replace(one.workload, batches=batches, epoch_overhead_s=(0.5,) * epochs, worker_start_s=0.5)
    settings = answer("too-few-workers", on_a_cpu(replace(one, workload=short))).prescription.settings
    assert ("persistent_workers" in settings) == kept
