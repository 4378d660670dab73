"""What is read of the script's objects: where they were built, how they are set, what they hold; and never more than that."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections import UserDict
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
    TensorDataset,
)

from loaderdoctor.probe.about import start_method_default
from loaderdoctor.probe.loaders import Loaders
from loaderdoctor.probe.payload import MOST_NODES, payload
from loaderdoctor.probe.settings import length_of_dataset, settings_of
from loaderdoctor.probe.site import site_of
from loaderdoctor.probe.usage import _OpenFile, private_bytes, read_usage, resident_bytes, used_between

X = torch.zeros(2, 3)  # 24 bytes


class Pair(NamedTuple):
    x: torch.Tensor
    y: int


class Holder:
    def __init__(self, value):
        self.value = value


class Loud(torch.Tensor):
    @classmethod
    def __torch_function__(cls, *_args, **_kwargs):
        raise AssertionError


class Touchy:
    def __getattr__(self, name):
        raise RuntimeError(name)


class Slots:
    __slots__ = ("value",)

    def __getattr__(self, name):
        raise AssertionError(name)


class LazyDict(dict):
    def values(self):
        raise AssertionError


class LazyList(list):
    def __getitem__(self, index):
        raise AssertionError(index)

    __iter__ = __len__ = __bool__ = __getitem__


class Proxy(Holder):
    @property
    def __class__(self):
        raise AssertionError


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        (X, (1, 24)),
        ((X, X), (2, 48)),
        ([X, [X, {"a": X}]], (3, 72)),
        (Pair(X, 1), (1, 24)),
        ({"x": X, "names": ["a"] * 100}, (1, 24)),
        (UserDict(x=X), (1, 24)),
        (Holder((X, None)), (1, 24)),
        (LazyDict(x=X), (1, 24)),
        (LazyList([X, 1, X]), (2, 48)),
        ([Slots()], (-1, -1)),
        (torch.nn.Parameter(X), (1, 24)),
        (np.zeros(5), (0, 40)),
        ((np.zeros(5), X), (1, 64)),
        ([1, "a", X], (1, 24)),
        (X.to_sparse(), (1, 0)),
        ("text", (-1, -1)),
        ([], (-1, -1)),
        (None, (-1, -1)),
        (torch.zeros(2).as_subclass(Loud), (-1, -1)),
    ],
)
def test_payloads(batch, expected):
    assert payload(batch) == expected


def test_a_batch_that_answers_to_nothing_is_not_asked():
    assert payload(Touchy()) == (-1, -1)
    assert payload(Proxy(X)) == (1, 24)


def test_an_endless_batch_is_counted_to_a_bound():
    tensors, size = payload([X] * (2 * MOST_NODES))
    assert 0 < tensors <= MOST_NODES
    assert size == 24 * tensors


class Lengthy:
    asked = 0

    def __len__(self):
        type(self).asked += 1
        return 7

    def __getitem__(self, index):
        return index


def make_touchy():
    return Touchy()


class Endless(IterableDataset):
    def __len__(self):
        raise AssertionError

    def __iter__(self):
        return iter(())


class Own:
    batch_size = 2

    def __iter__(self):
        return iter([[0, 1]])

    def __len__(self):
        raise AssertionError


def collate(samples, *, by):
    return samples, by


@pytest.mark.parametrize(
    ("loader", "length"),
    [
        (lambda: DataLoader(Lengthy()), 7),
        (lambda: DataLoader(Lengthy(), batch_sampler=BatchSampler(SequentialSampler(range(3)), 2, drop_last=False)), 7),
        (lambda: DataLoader(Lengthy(), sampler=Own()), None),
        (lambda: DataLoader(Endless()), None),
        (make_touchy, None),
    ],
)
def test_lengths_are_asked_only_where_torch_asks(loader, length):
    assert length_of_dataset(loader()) == length


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"batch_sampler": Own()}, {"batch_size": None, "sampler": f"{__name__}.Own"}),
        (  # as accelerate builds a loader anew
            {"batch_sampler": BatchSampler(RandomSampler(range(8)), 4, drop_last=False)},
            {"batch_size": 4, "sampler": "torch.utils.data.sampler.RandomSampler"},
        ),
        (
            {"shuffle": True, "drop_last": True},
            {"sampler": "torch.utils.data.sampler.RandomSampler", "drop_last": True},
        ),
        ({"collate_fn": functools.partial(collate, by=1)}, {"collate": f"{__name__}.collate"}),
        ({"num_workers": 1, "multiprocessing_context": "spawn", "timeout": 3}, {"start_method": "spawn", "timeout": 3}),
        ({"batch_size": None}, {"batch_size": None, "collate": "torch.utils.data._utils.collate.default_convert"}),
    ],
)
def test_settings(settings, told):
    stored = json.loads(settings_of(DataLoader(Lengthy(), **settings), None))
    assert {name: stored[name] for name in told} == told


def test_settings_of_what_only_looks_like_a_loader_are_those_it_has():
    assert json.loads(settings_of(Holder(1), None))["loader_type"] == f"{__name__}.Holder"


def test_the_scripts_own_files_that_hold_a_data_set_are_named_and_installed_ones_are_not():
    stored = json.loads(settings_of(DataLoader(Subset(Lengthy(), [0])), None))
    assert stored["dataset_files"] == [__file__]
    assert json.loads(settings_of(DataLoader(TensorDataset(torch.zeros(2))), None))["dataset_files"] == []


class Undecided:
    """A context, or the module multiprocessing itself in its place, before anything settled how processes start."""

    @staticmethod
    def get_start_method(*, allow_none):
        assert allow_none


def test_an_undecided_start_method_is_the_default():
    loader = Holder(1)
    loader.num_workers, loader.multiprocessing_context = 2, Undecided
    assert json.loads(settings_of(loader, None))["start_method"] == start_method_default()


class Recorder:
    def __init__(self):
        self.loaders = []

    def put(self, _kind, number, *_fields):
        self.loaders.append(number)

    def text(self, _text):
        return 1


def test_a_loader_has_a_number_that_nobody_else_gets():
    loaders, writer = Loaders(), Recorder()
    first, second = DataLoader(Lengthy()), DataLoader(Lengthy())
    loaders.built(first)
    assert loaders.iterated(first, writer) == (1, 0)
    assert loaders.iterated(second, writer) == (2, 0)  # never seen being built
    assert loaders.iterated(first, writer) == (1, 1)
    first.num_workers = 1  # a loader changed is another one to the report
    assert loaders.iterated(first, writer) == (3, 2)
    assert writer.loaders == [1, 2, 3]


def test_loaders_die_when_the_script_lets_them_go():
    loaders = Loaders()
    for _ in range(100):
        loader = DataLoader(Lengthy())
        loaders.built(loader)
    del loader
    assert loaders._known == {}


def test_the_length_is_asked_once_a_loader():
    loaders, loader = Loaders(), DataLoader(Lengthy())
    Lengthy.asked = 0
    for _ in range(3):
        loaders.iterated(loader, Recorder())
    assert Lengthy.asked == 1


class Built:
    def __init__(self):
        self.site = site_of(sys._getframe(), self)


class BuiltByASubclass(Built):
    def __init__(self):
        super().__init__()


def built_inside():
    return BuiltByASubclass()


@pytest.mark.parametrize("build", [Built, BuiltByASubclass])
def test_the_site_is_the_line_that_builds(build):
    here = sys._getframe()
    built = build()
    assert built.site == f"{__file__}:{here.f_lineno - 1}"


def test_frames_of_libraries_are_passed_over():
    here = sys._getframe()
    (built,) = json.loads("[{}]", object_hook=lambda _empty: Built())  # called by the standard library
    assert built.site == f"{__file__}:{here.f_lineno - 1}"


def test_readings_subtract_and_keep_what_is_unknown():
    assert used_between((1, 2, -1, 4, 5, 6, 7, 8), (2, 4, 6, -1, 5, 7, 7, 9)) == (1, 2, -1, -1, 0, 1, 0, 1)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc and RUSAGE_THREAD are Linux's")
def test_a_script_that_closes_every_descriptor_is_told_nothing(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    file = _OpenFile(__file__)
    os.close(file.descriptor)
    del file
    assert told == []


def test_a_thread_knows_what_it_used():
    before = read_usage()
    with open("/proc/self/maps", "rb") as file:  # noqa: PTH123 - bytes read, not how
        read = len(file.read())
    used = used_between(before, read_usage())
    assert used[0] > 0
    assert used[-1] >= read
    assert min(used[2:6]) >= 0
    assert resident_bytes() > private_bytes() > 0
