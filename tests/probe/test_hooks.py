"""The single hooks: pinning, optimizers, nesting, what is unknown, and what happens after a recording."""

from __future__ import annotations

import subprocess
import sys
from inspect import signature
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from installed import need
from probing import main_of, read, run, workers_of
from torch.utils.data import DataLoader

from loaderdoctor.probe import state
from loaderdoctor.probe._importlib_bootstrap import fetch, iteration, pin
from loaderdoctor.probe.known_source import digest
from loaderdoctor.probe.watch import ATTRIBUTE, Watch

PROBE = Path(iteration.__file__).parents[1]


@pytest.fixture
def probe(tmp_path, monkeypatch):
    """A recording of this process, without any hook."""
    (tmp_path / "records").mkdir()
    probe = state.Probe(str(tmp_path), None, None)
    monkeypatch.setattr(state, "probe", probe)
    yield probe
    probe.writer.close()


def script(tmp_path, source):
    path = tmp_path / "script.py"
    path.write_text(
        "import torch\nfrom torch.utils.data import DataLoader, Dataset, IterableDataset\n" + source, encoding="utf-8"
    )
    return path


class FakePin:
    """torch's module as it is built: a function that calls itself by its own name, and a loop that uses it."""

    def __init__(self):
        self.pinned = []

    def pin_memory(self, data, device=None):
        if isinstance(data, list):
            return [self.pin_memory(part, device) for part in data]
        self.pinned.append(data)
        return data

    def _pin_memory_loop(self, in_queue, out_queue, _device_id, _done_event, device):
        while (message := in_queue.get(timeout=1)) is not None:
            out_queue.put((message[0], self.pin_memory(message[1], device)))


class FakeQueue:
    def __init__(self, messages):
        self.messages = list(messages)

    def get(self, timeout):
        assert timeout
        return self.messages.pop(0)

    def put(self, message):
        self.messages.append(message)

    def qsize(self):
        return len(self.messages)


def test_the_pin_thread_tells_of_each_batch_once(probe, tmp_path):
    fake = FakePin()
    pin.patch(fake)
    parts = [torch.zeros(2), torch.zeros(3)]
    incoming = FakeQueue([(7, parts), (8, parts), None])
    outgoing = FakeQueue([])
    probe.queues[id(incoming)] = 5
    fake._pin_memory_loop(incoming, outgoing, 0, None, "cuda")
    assert len(outgoing.messages) == 2
    rows = main_of(tmp_path).of("pin")
    assert [(row["iterator"], row["batch"], row["tensors"], row["bytes"]) for row in rows] == [
        (5, 7, 2, 20),
        (5, 8, 2, 20),
    ]
    assert [(row["queue_before"], row["queue_after"]) for row in rows] == [(2, 0), (1, 1)]


def test_pinning_inside_next_is_told_of_and_the_scripts_own_is_not(probe, tmp_path):
    fake = FakePin()
    pin.patch(fake)
    fake.pin_memory(torch.zeros(2))
    probe.thread.watches.append(Watch(probe, 3, 1, 0))
    fake.pin_memory([torch.zeros(2)])
    (row,) = main_of(tmp_path).of("pin")
    assert (row["iterator"], row["batch"], row["tensors"], row["bytes"]) == (3, 0, 1, 8)


def test_torchs_fetchers_are_those_we_know():
    from torch.utils.data._utils import fetch as torchs

    known = fetch._KNOWN_MAP | fetch._KNOWN_ITERABLE
    for kind in (torchs._MapDatasetFetcher, torchs._IterableDatasetFetcher):
        assert digest(getattr(kind.fetch, "__wrapped__", kind.fetch)) in known


class UnknownFetcher:
    def __init__(self):
        self.collate_fn = sum

    def fetch(self, indices):
        return self.collate_fn([index + 1 for index in indices])


def test_an_unknown_fetcher_is_timed_as_a_whole(probe, tmp_path):
    class Fetcher(UnknownFetcher):
        fetch = fetch._fetch_whole(UnknownFetcher.fetch)

    fetcher = Fetcher()
    probe.thread.watches.append(Watch(probe, 3, 1, 0))
    assert fetcher.fetch([1, 2, 3]) == 9
    assert fetcher.collate_fn is sum
    (row,) = main_of(tmp_path).of("fetch")
    assert (row["samples"], row["slowest_ns"]) == (3, -1)
    assert row["collate_ns"] >= 0
    assert row["items_ns"] + row["collate_ns"] <= row["end_ns"] - row["begin_ns"]


def test_a_torch_without_what_we_stand_on_is_left_alone(tmp_path):
    assert not iteration.is_supported(SimpleNamespace(DataLoader=object, _BaseDataLoaderIter=object))
    path = tmp_path / "script.py"
    path.write_text(
        "import numpy\n"  # the probe is there from the first import of a library on
        "from importlib import import_module\n"
        "hooks = import_module('_loaderdoctor_probe._importlib_bootstrap.iteration')\n"
        "hooks.NEEDED['DataLoader'] += ('a_method_of_the_future',)\n"
        "from torch.utils.data import DataLoader\n"
        "print(len(list(DataLoader([1, 2, 3]))), hasattr(DataLoader.__init__, '__wrapped__'))\n",
        encoding="utf-8",
    )
    assert run(path, tmp_path).stdout == "3 False\n"
    (process,) = read(tmp_path)
    assert [row["slug_text"] for row in process.of("note")] == ["unsupported-torch"]
    assert process.kinds() == {"header", "note", "end"}


def test_a_loader_inside_next_is_told_as_nested(tmp_path):
    source = (
        "class Outer(Dataset):\n"
        "    def __len__(self): return 4\n"
        "    def __getitem__(self, index): return sum(batch.sum() for batch in DataLoader(range(6), batch_size=3))\n"
        "if __name__ == '__main__':\n"
        "    for workers in (0, 1):\n"
        "        for _ in DataLoader(Outer(), batch_size=2, num_workers=workers): pass\n"
    )
    run(script(tmp_path, source), tmp_path)
    main = main_of(tmp_path)
    (worker,) = workers_of(tmp_path)
    assert {row["depth"] for row in main.of("next")} == {0, 1}
    assert len([row for row in main.of("next") if row["depth"] == 1]) == 4 * 3  # two batches and the end
    assert [row["batch"] for row in worker.of("fetch") if row["worker"] == 0] == [0, 1]
    assert len([row for row in worker.of("fetch") if row["worker"] == -1]) == 4 * 2
    assert [row["batch"] for row in worker.of("busy") if row["worker"] == 0] == [0, 1]


@pytest.mark.skipif("in_order" not in signature(DataLoader).parameters, reason="torch before 2.6 has no other order")
def test_out_of_order_batches_keep_their_worker(tmp_path):
    source = (
        "import time\n"
        "class Uneven(Dataset):\n"
        "    def __len__(self): return 12\n"
        "    def __getitem__(self, index):\n"
        "        time.sleep(0.1 * (index % 5 == 0))\n"
        "        return index\n"
        "for _ in DataLoader(Uneven(), num_workers=2, in_order=False): pass\n"
    )
    run(script(tmp_path, source), tmp_path)
    rows = [row for row in main_of(tmp_path).of("next") if row["status"] == 0]
    made = {row["batch"]: row["worker"] for worker in workers_of(tmp_path) for row in worker.of("fetch")}
    assert sorted(row["batch"] for row in rows) == list(range(12))
    assert {row["batch"]: row["worker"] for row in rows} == made


COUNTED = """
import io, sys, numpy
file = io.BytesIO()
numpy.save(file, numpy.zeros(3))

class Read(Dataset):
    def __len__(self): return 16
    def __getitem__(self, index): return numpy.load(io.BytesIO(file.getvalue()))

class Through(IterableDataset):
    def __iter__(self): return iter(DataLoader(Read(), num_workers=2))

class Once(IterableDataset):
    def __iter__(self): return iter(DataLoader(Read()))

for _ in DataLoader(Once(), batch_size=None): pass
for _ in DataLoader(Through(), batch_size=None): pass
"""


def test_a_worker_tells_of_the_stages_of_its_own_batches_and_the_main_process_of_its_own(tmp_path):
    run(script(tmp_path, COUNTED), tmp_path)
    for process in read(tmp_path):
        assert sum(row["calls"] for row in process.of("stage")) == 1, "one batch of each is profiled"
        assert len(process.of("profiled")) == 1


def test_the_first_batches_of_an_iterator_are_not_its_predecessors(probe, tmp_path):
    """They may be pinned while the iterator is still being built, in a queue where another one's was."""
    queue = FakeQueue([(0, "a"), None])
    queue._recv_bytes = None
    module = FakePin()
    pin.patch(module)

    class Iterator:
        _pin_memory = True
        _worker_result_queue = queue

        def _reset(self, _loader):
            module._pin_memory_loop(queue, FakeQueue([]), 0, None, "cpu")

    iteration.replace(Iterator, "_reset", iteration._reset)
    probe.queues[id(queue)] = 1
    iterator = Iterator()
    vars(iterator)[ATTRIBUTE] = Watch(probe, 2, 1, 0)
    iterator._reset(None)
    assert [row["iterator"] for row in main_of(tmp_path).of("pin")] == [2]


def test_an_error_in_a_sample_is_told_with_its_batch(tmp_path):
    source = (
        "class Bad(Dataset):\n"
        "    def __len__(self): return 4\n"
        "    def __getitem__(self, index): return 1 // (index - 3)\n"
        "try:\n"
        "    for _ in DataLoader(Bad(), batch_size=2): pass\n"
        "except ZeroDivisionError as error:\n"
        "    print(error)\n"
    )
    assert run(script(tmp_path, source), tmp_path).stdout == "integer division or modulo by zero\n"
    main = main_of(tmp_path)
    assert [row["status"] for row in main.of("next")] == [0, 2]
    assert [(row["samples"], row["collate_ns"] >= 0) for row in main.of("fetch")] == [(2, True), (1, False)]


COMPILED = """
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

@torch.compile(backend="eager", fullgraph=True)
def forward(x):
    return model(x).sum()

@torch.compile(backend="eager")  # torch's own step breaks its graph, so that a full one is not to be had
def step():
    optimizer.step()

from torch._dynamo.utils import counters
for x in DataLoader(torch.ones(12, 2), batch_size=4):
    optimizer.zero_grad()
    forward(x).backward()
    step()
print(dict(counters["graph_break"]), counters["stats"]["unique_graphs"])
"""


@pytest.mark.slow
def test_compiled_models_and_optimizers_break_no_graph_for_us(tmp_path):
    native, probed = (run(script(tmp_path, COMPILED), directory) for directory in (None, tmp_path))
    assert probed.stdout == native.stdout


IN_PROCESS = """
import importlib.util, sys
folder, runs = sys.argv[1], sys.argv[2:]
spec = importlib.util.spec_from_file_location(
    "_loaderdoctor_probe", folder + "/__init__.py", submodule_search_locations=[folder]
)
sys.modules["_loaderdoctor_probe"] = probe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(probe)
loader = DataLoader(range(8), batch_size=4, num_workers=1, persistent_workers=True)
list(loader)
for run in runs:
    probe.install(run)
    list(loader)
    list(DataLoader(range(8), batch_size=2))
    probe.uninstall()
    list(loader)
"""


def test_a_process_can_be_recorded_twice_and_only_then(tmp_path):
    runs = [tmp_path / "first", tmp_path / "second"]
    for directory in runs:
        (directory / "records").mkdir(parents=True)
    path = script(tmp_path, IN_PROCESS)
    subprocess.run([sys.executable, str(path), str(PROBE), *map(str, runs)], check=True)
    for directory in runs:
        main = main_of(directory)
        assert len(main.of("loader")) == 2
        assert [row["how"] for row in main.of("iterator")] == [1, 0]
        assert len([row for row in main.of("next") if row["status"] == 0]) == 2 + 4
        assert [row["why"] for row in main.of("end")] == [0]


TORCHDATA = """
from torch.utils.data import DataLoader
from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter

class _StatefulMultiProcessingDataLoaderIter(_MultiProcessingDataLoaderIter):
    pass

class StatefulDataLoader(DataLoader):
    def __init__(self, *args, **kwargs):  # sets every attribute itself
        vars(self).update(vars(DataLoader(*args, **kwargs)))
"""


def test_a_loader_is_built_where_the_script_says_though_it_leaves_torchs_constructor_out(tmp_path):
    module = tmp_path / "site-packages" / "torchdata" / "stateful_dataloader" / "stateful_dataloader.py"
    module.parent.mkdir(parents=True)
    module.write_text(TORCHDATA, encoding="utf-8")
    source = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'site-packages')!r})\n"
        "from torchdata.stateful_dataloader.stateful_dataloader import StatefulDataLoader\n"
        "loader = StatefulDataLoader(range(4), batch_size=2)\n"
        "for batch in loader: pass\n"
    )
    path = script(tmp_path, source)
    run(path, tmp_path)
    assert [row["site_text"] for row in main_of(tmp_path).of("loader")] == [f"{path}:5"]


BATCHES = """
class Stream(IterableDataset):
    def __iter__(self): return iter([[0, 1, 2], [3, 4, 5]])
for _ in DataLoader({dataset}, batch_size=None): pass
"""


@pytest.mark.parametrize("dataset", ["Stream()", "[[0, 1, 2], [3, 4, 5]]"])
def test_how_many_samples_there_are_in_a_batch_that_the_data_set_makes_is_not_known(dataset, tmp_path):
    run(script(tmp_path, BATCHES.format(dataset=dataset)), tmp_path)
    fetches = main_of(tmp_path).of("fetch")[:2]
    assert [(row["samples"], row["slowest_ns"]) for row in fetches] == [(-1, -1)] * 2
    assert all(row["items_ns"] >= 0 for row in fetches)


def test_torchdata_is_followed_where_it_is_installed(tmp_path):
    need("torchdata.stateful_dataloader")
    source = (
        "from torchdata.stateful_dataloader import StatefulDataLoader\n"
        "print(len(list(StatefulDataLoader(range(8), batch_size=2, num_workers=2))))\n"
    )
    assert run(script(tmp_path, source), tmp_path).stdout == "4\n"
    main = main_of(tmp_path)
    assert [row["worker"] for row in main.of("next") if row["status"] == 0] == [0, 1, 0, 1]
    assert len(main.of("worker_started")) == 2
    assert sorted(row["batch"] for worker in workers_of(tmp_path) for row in worker.of("fetch")) == [0, 1, 2, 3]
