"""Long runs are replayed by a sample that stands for all of their batches."""

from __future__ import annotations

import pytest
from schedules import constant

from loaderdoctor.predict import replay
from loaderdoctor.predict.thin import HEAD, kept


@pytest.mark.parametrize(
    ("batches", "epochs", "most"), [(10, 1, 20), (5000, 1, 500), (5000, 5, 1000), (5000, 1000, 500), (4096, 64, 512)]
)
def test_the_weights_stand_for_every_batch(batches, epochs, most):
    sample = kept(constant(batches=batches, epochs=epochs), most)
    assert sum(one.weight for one in sample) == pytest.approx(batches)
    assert len(sample) <= most + 2 * HEAD
    assert [one.index for one in sample] == sorted({one.index for one in sample})


def test_a_short_run_is_kept_as_it_is():
    assert [(one.index, one.weight) for one in kept(constant())] == [(index, 1.0) for index in range(10)]


@pytest.mark.parametrize("epochs", [1, 4])
def test_a_thinned_replay_takes_as_long_as_the_whole(epochs):
    # Above the cap, but regular: the whole is as long as its parts, a gap an epoch included.
    long = constant(batches=6000, epochs=epochs, blocked_s=0.03, compute_s=0.01, epoch_overhead_s=(1.0,) * epochs)
    assert replay(long, {}).total_s == pytest.approx(6000 * 0.04 + epochs, rel=0.01)
