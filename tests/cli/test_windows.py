"""--every and --for: what they take, and what the report says of a run in windows."""

import click
import pytest
from under_the_tool import profiled

from loaderdoctor.cli.duration import DURATION
from loaderdoctor.cli.profile import _windows
from loaderdoctor.errors import LoaderDoctorError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("600", 600),
        ("90s", 90),
        ("10m", 600),
        ("10 min", 600),
        ("1.5h", 5400),
        ("1d", 86_400),
        ("0.5s", 0.5),
        ("2H", 7200),
    ],
)
def test_times(text, seconds):
    assert DURATION.convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["", "0", "0s", "-1s", "10 parsecs", "m", "1h30", "inf"])
def test_what_is_no_time(text):
    with pytest.raises(click.BadParameter, match="no time"):
        DURATION.convert(text, None, None)


def test_none_asked_for():
    assert _windows(None, None) is None
    assert _windows(600.0, 30.0) == (600.0, 30.0)


@pytest.mark.parametrize("both", [(600.0, None), (None, 30.0), (30.0, 30.0), (30.0, 600.0)])
def test_windows_that_are_none(both):
    with pytest.raises(LoaderDoctorError, match="--every 10m --for 30s") as raised:
        _windows(*both)
    assert raised.value.slug == "windows-unclear"


# Half of each step is a wait; its own stopwatch is what it prints.
SCRIPT = """
import time, torch
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 50
    def __getitem__(self, index):
        time.sleep(0.004)
        return torch.ones(1)

model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), 1e-6)
loader = DataLoader(Slow(), batch_size=1)
waited_s, began_s = 0.0, time.perf_counter()
for _ in range(16):
    asked_s = time.perf_counter()
    for batch in loader:
        waited_s += time.perf_counter() - asked_s
        model(batch).sum().backward()
        optimizer.step()
        time.sleep(0.004)
        asked_s = time.perf_counter()
print(waited_s / (time.perf_counter() - began_s))
"""


@pytest.mark.slow
def test_a_run_in_windows_is_told_as_a_whole(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done, report = profiled(["--every", "1s", "--for", "0.3s", "script.py"], tmp_path)
    assert report["verdict"]["starved_share"]["best"] == pytest.approx(float(done.stdout), abs=0.08)
    assert report["verdict"]["cause"] == "no-workers"
    (loader,) = report["loaders"]
    assert (loader["batches"], loader["epochs"]) == (800, 16)
    assert report["step"]["count"] < 600
    (text,) = [note["text"] for note in report["notes"] if note["slug"] == "windows"]
    assert "0.3 s of each 1 s" in text
    assert "of its 800 steps" in text
    assert report["spells"][-1]["to_step"] <= 800
