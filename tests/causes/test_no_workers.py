"""no-workers: found where workers would hide the work, not where it is cheap, hidden, or done elsewhere."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, on_a_cpu, on_a_gpu, workers_busy
from builders import around, loader, workload

from loaderdoctor.analyse.signals import LoaderSettings
from loaderdoctor.causes.base import Change, Gain
from loaderdoctor.causes.engine import predicted
from loaderdoctor.causes.gates import WAITING
from loaderdoctor.values import Interval

PLAIN = LoaderSettings(batch_size=32, start_method="fork")


def inline(*, making_s=0.03, using_s=0.01, epochs=1, wait=None, cores=8.0, **settings):
    share = making_s / (making_s + using_s) if wait is None else wait
    its = replace(PLAIN, **settings)
    times = {"cpu_s": making_s, "compute_s": using_s, "wait_s": making_s}
    work = workload(settings=its, batches=200, epochs=epochs, cores=cores, batch_bytes=1000, **times)
    return loader(settings=its, epochs=epochs, exposed_wait_share=around(share, spread=0.02), workload=work)


def test_found_with_workers_that_hide_the_work():
    finding = answer("no-workers", on_a_cpu(inline()))
    assert finding.status == "found"
    assert finding.prescription.settings == {"num_workers": 4}
    assert finding.gain.speedup.low > 2
    assert finding.confidence == "high"
    assert finding.step_share.best == pytest.approx(0.75)


def test_several_epochs_get_workers_that_stay():
    finding = answer("no-workers", on_a_cpu(inline(epochs=2)))
    assert finding.prescription.settings == {"num_workers": 4, "persistent_workers": True}


@pytest.mark.parametrize(("wait", "status"), [(WAITING.value * 1.01, "found"), (WAITING.value * 0.99, "ruled-out")])
def test_a_wait_just_below_the_threshold_is_none(wait, status):
    assert answer("no-workers", on_a_cpu(inline(wait=wait))).status == status


def test_a_sample_cheaper_than_its_way_between_processes_is_another_illness():
    # 0.4 ms to make, 0.5 ms to receive from a worker: per-sample-fetch, if anything.
    finding = answer("no-workers", on_a_cpu(inline(making_s=0.0004, using_s=0.002)))
    assert finding.status == "ruled-out"
    assert finding.evidence[0].value < 1.02


def test_one_core_hides_nothing():
    assert answer("no-workers", on_a_cpu(inline(cores=1.0))).status == "ruled-out"


def test_work_that_a_busy_device_hides_is_no_wait():
    assert answer("no-workers", on_a_gpu(inline(wait=0.001))).status == "ruled-out"


def test_a_loader_with_workers_cannot_have_it():
    finding = answer("no-workers", on_a_cpu(workers_busy(1)))
    assert (finding.status, finding.reasons) == ("not-applicable", ("The loader has 1 worker.",))


def test_a_stream_must_be_split_first():
    finding = answer("no-workers", on_a_cpu(inline(dataset_kind="iterable")))
    assert (finding.prescription.safety, finding.confidence) == ("changes-results", "medium")
    assert "get_worker_info" in finding.prescription.advice


@pytest.mark.parametrize(
    ("low", "best", "shown"), [(0.9, 1.4, (0.9, 1.0)), (0.9, 1.01, (1.01, 1.05)), (1.1, 1.4, (1.4, 1.05))]
)
def test_the_number_shown_is_the_one_that_speaks_against_it(low, best, shown):
    evidence = predicted(Gain(Interval(low, best, 1.5), "simulated"), Change({"num_workers": 2}))
    assert (evidence.value, evidence.threshold) == shown
