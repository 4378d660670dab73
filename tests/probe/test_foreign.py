"""Iterators of other libraries: their wait is timed, and nothing else of theirs is touched."""

from __future__ import annotations

import textwrap

import pytest
from probing import main_of, run

LIBRARIES = {
    "nvidia.dali.plugin.pytorch": "DALIGenericIterator",
    "ffcv.loader.epoch_iterator": "EpochIterator",
    "grain._src.python.data_loader": "DataLoaderIterator",
}

LIBRARY = """
import time
class {name}:
    batch_size = 16
    def __init__(self):
        self.left = 3
    def __iter__(self):
        return self
    def __next__(self):
        if not self.left:
            raise StopIteration
        self.left -= 1
        time.sleep(0.01)
        return self.left
"""

SCRIPT = """
import torch
from {module} import {name}
parameter = torch.nn.Parameter(torch.zeros(1))
optimizer = torch.optim.SGD([parameter], lr=0.1)
for batch in {name}():
    print(batch)
    parameter.sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize("module", LIBRARIES)
def test_the_wait_of_an_iterator_that_is_not_torchs_is_recorded(module, tmp_path):
    name = LIBRARIES[module]
    *packages, leaf = module.split(".")
    folder = tmp_path.joinpath(*packages)
    folder.mkdir(parents=True)
    for depth in range(len(packages)):
        tmp_path.joinpath(*packages[: depth + 1], "__init__.py").touch()
    (folder / f"{leaf}.py").write_text(LIBRARY.format(name=name))
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(SCRIPT.format(module=module, name=name)))
    assert run(script, tmp_path / "run").stdout == "2\n1\n0\n"
    main = main_of(tmp_path / "run")
    waits = main.of("next")
    assert [row["status"] for row in waits] == [0, 0, 0, 1]
    assert all(row["end_ns"] - row["begin_ns"] >= 10_000_000 for row in waits[:3])
    assert [row["ready"] for row in waits] == [-1] * 4
    (loader,) = main.of("loader")
    assert '"torch_loader": false' in str(loader)
    assert loader["site_text"] == f"{script}:6"
    assert len(main.of("optimizer_step")) == 3
