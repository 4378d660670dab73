"""sampler-cost: found where choosing indices is what is waited for, at each batch or before an epoch."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ailing import answer, on_a_cpu, workers_busy
from builders import exact
from passes import with_gaps

from loaderdoctor.analyse.signals import OrderSignals
from loaderdoctor.causes.order.sampler_cost import CHOOSING, OF_WAIT


def choosing(share=0.33, of_wait=0.95, sampler="train.Neighbours", workers=2):
    """A loader that waits for its sampler 5 ms a step."""
    one = workers_busy(
        workers,
        worker_busy_share=exact(0.2),
        work={"cpu_s": 0.002, "blocked_s": 0.0},
        settings={"sampler": sampler},
        order=OrderSignals(sampler_share=exact(share), sampler_of_wait=exact(of_wait)),
    )
    batches = tuple(replace(batch, choose_s=0.005) for batch in one.workload.batches)
    return replace(one, workload=replace(one.workload, batches=batches))


def test_found_and_replayed_with_indices_that_are_there():
    finding = answer("sampler-cost", on_a_cpu(choosing()))
    assert finding.status == "found"
    assert finding.gain.basis == "simulated"
    assert finding.gain.speedup.low < 1.4 < finding.gain.speedup.high
    assert "train.Neighbours" in finding.prescription.actions[0].text


@pytest.mark.parametrize(
    ("sampler", "word"),
    [("torch.utils.data.sampler.WeightedRandomSampler", "weights"), ("torch.utils.data.sampler.RandomSampler", "list")],
)
def test_torchs_own_samplers_have_advice_of_their_own(sampler, word):
    assert word in answer("sampler-cost", on_a_cpu(choosing(sampler=sampler))).prescription.advice


@pytest.mark.parametrize(("share", "status"), [(CHOOSING.value, "found"), (CHOOSING.value - 0.001, "ruled-out")])
def test_little_choosing_is_no_fault(share, status):
    assert answer("sampler-cost", on_a_cpu(choosing(share=share))).status == status


@pytest.mark.parametrize(("share", "status"), [(OF_WAIT.value, "found"), (OF_WAIT.value - 0.01, "ruled-out")])
def test_where_most_of_the_wait_is_something_else_it_is_not_it(share, status):
    assert answer("sampler-cost", on_a_cpu(choosing(of_wait=share))).status == status


def test_more_workers_are_no_cure_for_it():
    assert answer("too-few-workers", on_a_cpu(choosing())).status == "ruled-out"
    without = on_a_cpu(choosing(workers=0))
    assert answer("no-workers", without).gain.speedup.best < answer("sampler-cost", without).gain.speedup.low


def test_an_order_that_is_drawn_before_each_epoch_goes_with_the_gap():
    order = {
        "gap_start_share": exact(0.0),
        "gap_choose_share": exact(0.9),
        "sampler_share": exact(0.35),
        "sampler_of_wait": exact(0.9),
    }
    finding = answer("sampler-cost", on_a_cpu(with_gaps(settings={"persistent_workers": True}, order=order)))
    assert finding.status == "found"
    assert finding.gain.speedup.best > 1.4


def test_starting_workers_is_another_illness():
    assert answer("sampler-cost", on_a_cpu(with_gaps())).status == "ruled-out"
