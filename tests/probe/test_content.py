"""Checksums of batches: equal for equal ones, different for others, and silent about what cannot be read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
import torch

from loaderdoctor.probe.content import FIRST, content


class Pair(NamedTuple):
    x: torch.Tensor
    y: int


class Record:
    def __init__(self, x):
        self.x = x


def ramp(start=0.0):
    return torch.arange(1000.0) + start


EQUAL = [
    ramp,
    lambda start: [ramp(start), torch.tensor(3)],
    lambda start: {"x": ramp(start), "name": ["a", "b"]},
    lambda start: Pair(ramp(start), 5),
    lambda start: Record(ramp(start)),
    lambda start: ramp(start).numpy(),
    lambda start: [f"line {start}", 7],
    lambda start: ramp(start).to(torch.bfloat16),
]


@pytest.mark.parametrize("make", EQUAL, ids=range(len(EQUAL)))
def test_equal_batches_have_equal_checksums_and_others_not(make):
    assert content(0, make(1.0)) == content(1, make(1.0)) > 0
    assert content(0, make(1.0)) != content(0, make(64.0))


@pytest.mark.parametrize("number", [-1, FIRST, 10_000])
def test_only_the_first_batches_of_a_pass_have_one(number):
    assert content(number, ramp()) == -1


@pytest.mark.parametrize(
    "batch",
    [
        torch.ones(8, 8).t()[::2],
        torch.ones(4, device="meta"),
        torch.eye(3).to_sparse(),
        np.array([object()]),
        object(),
        [],
    ],
    ids=["strided", "meta", "sparse", "objects", "opaque", "empty"],
)
def test_what_cannot_be_read_has_none(batch):
    assert content(0, batch) == -1


def test_borders_that_are_equal_hide_no_difference_in_the_middle():
    one, other = torch.zeros(100_000), torch.zeros(100_000)
    other[50_000] = 1
    assert content(0, one) != content(0, other)


def test_a_batch_that_holds_itself_comes_to_an_end():
    batch = [ramp()]
    batch.append(batch)
    assert content(0, batch) == -1
