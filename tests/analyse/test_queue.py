"""What lay ready, and what was held up."""

import builders
import pytest

from loaderdoctor.analyse import signals_of
from loaderdoctor.values import Missing

DRAWING = "[" + "wc" * 40


@pytest.mark.parametrize(
    ("ready", "median", "empty"),
    [([0] * 41, 0, 1.0), ([4] * 41, 4, 0.0), ([0, 3] * 21, 1.5, 0.5), ([-1] * 41, "no-queue-count", "no-queue-count")],
    ids=str,
)
def test_ready_batches(ready, median, empty):
    loader = signals_of(builders.run_from(DRAWING, num_workers=2, ready=ready)).main
    found = [
        value.slug if isinstance(value, Missing) else value.value
        for value in (loader.ready_median, loader.ready_empty_share)
    ]
    assert found == [median, empty]


def test_a_loader_without_workers_has_no_queue():
    loader = signals_of(builders.run_from(DRAWING)).main
    assert loader.ready_median.slug == loader.ready_empty_share.slug == loader.head_of_line_share.slug == "no-workers"


@pytest.mark.parametrize(
    ("arrivals", "share"),
    [
        ({}, "no-arrivals"),
        ({k: [k] for k in range(40)}, 0.0),
        ({k: [k] if k % 4 else [k + 1, k + 2, k] for k in range(40)}, 0.25),
        ({k: [k + 1, k] for k in range(40)}, 1.0),
    ],
    ids=["none", "in turn", "one in four late", "always late"],
)
def test_head_of_line(arrivals, share):
    """`arrivals`: batches that came while next() waited for each."""
    run = builders.run_from(DRAWING, num_workers=2, arrivals=arrivals)
    value = signals_of(run).main.head_of_line_share
    assert (value.slug if isinstance(value, Missing) else value.value) == pytest.approx(share)
