"""Settings forced on one loader at its constructor: that one alone, in each process, and only where a trial asks."""

from __future__ import annotations

import json
from dataclasses import replace

import builders
import pytest
import torch
from probing import read, run
from torch.utils.data import BatchSampler, DataLoader, IterableDataset, SequentialSampler, TensorDataset

from loaderdoctor.probe.injection import NEEDS_WORKERS, TELLS_APART, Injection, injection_of
from loaderdoctor.treat import forcing, patch

DATA = TensorDataset(torch.arange(12.0))


class Endless(IterableDataset):
    """Iterated, not indexed."""

    def __iter__(self):
        return iter(range(4))


class Mine(DataLoader):
    """A loader of the script's own, whose constructor takes other arguments."""

    def __init__(self, data, workers=0):
        super().__init__(data, 4, num_workers=workers)


def here(settings, alike=None):
    """For a loader that `built` builds."""
    return Injection("/", __file__, LINE, settings, alike)


def built(injection, kind, *args, **kwargs):
    """The loader's settings, constructed as the hook constructs it."""
    original = DataLoader.__init__

    def __init__(self, *args, **kwargs):  # noqa: N807 - it takes the place of one
        args, kwargs = injection.arguments(self, original, args, kwargs)
        original(self, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(DataLoader, "__init__", __init__)
        loader = kind(*args, **kwargs)
    return {name: getattr(loader, name) for name in ("num_workers", "prefetch_factor", "persistent_workers", "timeout")}


LINE = built.__code__.co_firstlineno + 10

WORKERS = {"num_workers": 2, "prefetch_factor": 2, "persistent_workers": False, "timeout": 0}
NONE = {"num_workers": 0, "prefetch_factor": None, "persistent_workers": False, "timeout": 0}


@pytest.mark.parametrize(
    ("args", "kwargs", "settings", "found"),
    [
        ((), {}, {"num_workers": 2}, WORKERS),
        ((4, True, None, None, 1), {}, {"num_workers": 2}, WORKERS),
        ((), {"num_workers": 1}, {"num_workers": 2}, WORKERS),
        ((), {"num_workers": 2}, {"prefetch_factor": 7}, WORKERS | {"prefetch_factor": 7}),
        ((), {"num_workers": 2, "prefetch_factor": 9}, {"prefetch_factor": None}, WORKERS),
        ((), {}, {"num_workers": 2, "persistent_workers": True}, WORKERS | {"persistent_workers": True}),
        ((), {"num_workers": 2, "prefetch_factor": 4, "persistent_workers": True}, {"num_workers": 0}, NONE),
        ((4, True, None, None, 1, None, False, False, 60), {}, {"num_workers": 0}, NONE),
        ((), {}, {"persistent_workers": True, "prefetch_factor": 4}, NONE),
        ((), {"num_workers": 2}, {"no_such_argument": 1}, WORKERS),
    ],
)
def test_settings_are_forced_and_what_torch_refuses_without_workers_goes(args, kwargs, settings, found):
    assert built(here(settings), DataLoader, DATA, *args, **kwargs) == found


def test_a_constructor_of_the_scripts_own_is_none_the_wiser():
    assert built(here({"num_workers": 2}), Mine, DATA) == WORKERS
    assert built(here({"num_workers": 0}), Mine, DATA, workers=3) == NONE


def test_a_loader_of_another_place_is_built_as_it_is_written():
    assert built(Injection("/", __file__, LINE + 1, {"num_workers": 2}), DataLoader, DATA) == NONE
    assert built(Injection("/", "/other.py", LINE, {"num_workers": 2}), DataLoader, DATA) == NONE


SHUFFLED = {"sampler": "torch.utils.data.sampler.RandomSampler"}
IN_ORDER = {"sampler": "torch.utils.data.sampler.SequentialSampler"}
ENDLESS = {"sampler": "torch.utils.data.dataloader._InfiniteConstantSampler"}
BATCHES = BatchSampler(SequentialSampler(DATA), 3, drop_last=False)


@pytest.mark.parametrize(
    ("alike", "data", "kwargs", "is_meant"),
    [
        (SHUFFLED, DATA, {"shuffle": True}, True),
        (SHUFFLED, DATA, {}, False),
        (IN_ORDER, DATA, {}, True),
        (IN_ORDER, DATA, {"sampler": SequentialSampler(DATA)}, True),
        (IN_ORDER, DATA, {"batch_sampler": BATCHES}, True),
        (ENDLESS, Endless(), {}, True),
        ({"batch_size": 4}, DATA, {"batch_size": 4}, True),
        ({"batch_size": 4}, DATA, {"batch_size": 5}, False),
        ({"batch_size": 1}, DATA, {}, True),
        ({"batch_size": 3}, DATA, {"batch_sampler": BATCHES}, True),
        ({"batch_size": None}, DATA, {"batch_size": None}, True),
        ({"dataset_len": 12}, DATA, {}, True),
        ({"dataset_len": 11}, DATA, {}, False),
        ({"dataset_len": 11}, Endless(), {}, False),
        ({"dataset_type": "torch.utils.data.dataset.TensorDataset"}, DATA, {}, True),
        ({"dataset_type": "torch.utils.data.dataset.TensorDataset"}, Endless(), {}, False),
        ({"unheard_of": 1}, DATA, {}, False),
    ],
)
def test_of_several_loaders_of_one_place_the_one_that_is_alike_is_meant(alike, data, kwargs, is_meant):
    found = built(here({"num_workers": 2}, alike), DataLoader, data, **kwargs)
    assert found == (WORKERS if is_meant else NONE)


def test_a_data_set_that_fails_when_asked_leaves_the_loader_as_it_is_written():
    class NoLength(TensorDataset):
        def __len__(self):
            raise RuntimeError("not now")

    found = built(here({"num_workers": 2}, {"dataset_len": 12}), DataLoader, NoLength(torch.arange(12.0)))
    assert found == NONE


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"settings": {}}', '"words"'])
def test_what_is_no_injection_injects_nothing(text):
    assert injection_of(text) is None


def test_what_needs_workers_is_the_same_for_a_patch_and_an_injection():
    assert NEEDS_WORKERS == patch.NEEDS_WORKERS
    assert set(TELLS_APART) == set(forcing.TELLS_APART)


SCRIPT = """\
import json, sys
import torch
from torch.utils.data import DataLoader, TensorDataset

def loader(data, shuffle):
    return DataLoader(data, batch_size=4, shuffle=shuffle)

def train(rank):
    data = TensorDataset(torch.arange(24.0))
    train, held_out = loader(data, True), loader(data, False)
    other = DataLoader(data, batch_size=4)
    for one in (train, held_out, other):
        for batch in one:
            pass

if __name__ == "__main__":
    if sys.argv[1:] == ["spawn"]:
        torch.multiprocessing.spawn(train, nprocs=2)
    else:
        train(0)
"""
PLACE = SCRIPT.splitlines().index("    return DataLoader(data, batch_size=4, shuffle=shuffle)") + 1


@pytest.mark.parametrize("arguments", [(), ("spawn",)])
def test_in_every_process_of_a_script_the_one_loader_is_treated_and_nothing_else(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(SCRIPT)
    asked = {"folder": str(tmp_path), "file": "train.py", "line": PLACE, "settings": {"num_workers": 1}}
    injected = json.dumps(asked | {"alike": SHUFFLED})
    run("train.py", tmp_path / "run", *arguments, LOADERDOCTOR_INJECTED=injected)

    loaders = [one for process in read(tmp_path / "run") if process.role == "main" for one in process.of("loader")]
    assert len(loaders) == (6 if arguments else 3)
    for one in loaders:
        settings = json.loads(one["settings_text"])
        is_meant = one["site_text"].endswith(f"train.py:{PLACE}") and settings["sampler"].endswith("RandomSampler")
        assert settings["num_workers"] == int(is_meant)


def test_batches_are_those_of_the_script_as_written(tmp_path):
    (tmp_path / "train.py").write_text(
        "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\ntorch.manual_seed(1)\n"
        "print([b.tolist() for e in range(2) for b, in DataLoader(TensorDataset(torch.arange(9.)), 2, True)])\n"
    )
    place = {"folder": "/", "file": str(tmp_path / "train.py"), "line": 4, "settings": {"num_workers": 2}}
    bare = run(tmp_path / "train.py", None, LOADERDOCTOR_INJECTED=json.dumps(place))
    treated = run(tmp_path / "train.py", tmp_path / "run", LOADERDOCTOR_INJECTED=json.dumps(place))
    assert (treated.stdout, treated.stderr) == (bare.stdout, bare.stderr)
    assert any(process.role == "worker" for process in read(tmp_path / "run"))


@pytest.mark.parametrize("first", [{"batch_size": 8}, {"batch_size": 4}])
@pytest.mark.parametrize("second", [{"batch_size": 8}, {"batch_size": 4}])
def test_an_injection_says_what_tells_its_loader_apart(first, second):
    one, other = (
        builders.loader(id=name, settings=replace(builders.loader().settings, **settings))
        for name, settings in (("a", first), ("b", second))
    )
    signals = builders.signals(loaders=(one, other))
    told = json.loads(forcing.injected(signals, one, {"num_workers": 2}, "/"))
    assert (told["file"], told["line"], told["settings"]) == (one.site.file, one.site.line, {"num_workers": 2})
    assert forcing.is_alone(signals, one) == (first != second)
    if first != second:
        assert told["alike"] == first
