"""The batch that a perfect loader gives again and again: as it was, whatever the script does with it."""

from __future__ import annotations

import json
from collections import namedtuple

import pytest
import torch
from probing import main_of, run

from loaderdoctor.probe.kept import SLUG, Kept

Pair = namedtuple("Pair", "image label")  # noqa: PYI024 - collation makes what it is given, types or not


def batch():
    return {"x": torch.arange(4.0), "y": [torch.ones(2), "name"], "z": Pair(torch.zeros(1), 3)}


@pytest.fixture
def kept():
    """Holds the third of three batches."""
    one = Kept()
    assert [one.saw(batch()) for _ in range(3)] == [False, False, True]
    return one


def is_as_it_was(given):
    same = all(torch.equal(a, b) for a, b in ((given["x"], batch()["x"]), (given["y"][0], batch()["y"][0])))
    return same and given["y"][1] == "name" and given["z"] == Pair(torch.zeros(1), 3) and set(given) == set("xyz")


@pytest.mark.parametrize(
    "use",
    [
        dict,  # nothing
        lambda given: given["x"].div_(255),
        lambda given: given["y"][0].zero_(),
        lambda given: given.pop("x"),
        lambda given: given["y"].clear(),
        lambda given: given["x"].requires_grad_(),
    ],
)
def test_it_is_as_it_was_whatever_was_done_with_it(kept, use):
    for _ in range(3):
        given = kept.give()
        assert is_as_it_was(given)
        assert not given["x"].requires_grad
        use(given)


def test_its_memory_is_given_and_not_copied(kept):
    assert kept.give()["x"].data_ptr() == kept.give()["x"].data_ptr()


def test_a_single_tensor_is_a_batch():
    one = Kept()
    assert [one.saw(torch.ones(2) * number) for number in range(3)][-1]
    assert torch.equal(one.give(), torch.full((2,), 2.0))


SCRIPT = """\
import torch
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 25

    def __getitem__(self, index):
        return float(index)


loader = DataLoader(Numbers(), batch_size=4, num_workers=2)
beside = DataLoader(Numbers(), batch_size=5)
if __name__ == "__main__":
    for epoch in range(2):
        print([int(batch[0]) for batch in loader])
    print([int(batch[0]) for batch in beside])
"""


def test_only_the_loader_that_is_meant_gives_it_and_its_epochs_are_as_long(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    line = 1 + SCRIPT.split("\n").index("loader = DataLoader(Numbers(), batch_size=4, num_workers=2)")
    told = {"folder": str(tmp_path), "file": "train.py", "line": line, "settings": {"num_workers": 0}, "keeps": True}
    done = run(script, tmp_path / "run", LOADERDOCTOR_INJECTED=json.dumps(told))
    assert done.stderr == ""
    assert done.stdout.splitlines() == [f"[0, 4, 8, {', '.join(4 * '8')}]", str(7 * [8]), "[0, 5, 10, 15, 20]"]
    recorded = main_of(tmp_path / "run")
    assert [note["slug_text"] for note in recorded.of("note")] == [SLUG]
