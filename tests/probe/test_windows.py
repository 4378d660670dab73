"""Windows of detail: when they are, what is done between them, and how they are read again."""

from __future__ import annotations

import pytest
from device_backends import SimBackend
from probe_recorder import Recorder
from probing import main_of, run, workers_of

from loaderdoctor.probe.control import Control, create
from loaderdoctor.probe.detail import PARTS
from loaderdoctor.probe.device import pace
from loaderdoctor.probe.device.clock import DeviceClock
from loaderdoctor.probe.device.hearing import hearing
from loaderdoctor.probe.layout import KIND_OF, NEXT_BATCH, RECORD_BYTES
from loaderdoctor.probe.windows import Windows
from loaderdoctor.record import outline, read_process

S = 1_000_000_000
MOST = 64_000_000
START = 10**12


@pytest.fixture
def control(tmp_path):
    create(str(tmp_path))
    return Control.open(str(tmp_path))


def told(windows, times_s, used=lambda _: 0):
    """The times, in s from START, at which there is detail."""
    seen = []
    for at_s in times_s:
        windows.changes(START + int(at_s * S), used(at_s))
        if not windows.passing:
            seen.append(at_s)
    return seen


def test_windows_begin_with_the_first_batch_and_come_again(control):
    windows = Windows(MOST, 10 * S, 3 * S, control)
    assert told(windows, range(25)) == [0, 1, 2, 10, 11, 12, 20, 21, 22]
    assert windows.window == 3


def test_a_process_that_comes_later_has_the_windows_of_the_run(control):
    told(Windows(MOST, 10 * S, 3 * S, control), [0])
    assert told(Windows(MOST, 10 * S, 3 * S, control), range(5, 15)) == [10, 11, 12]


def test_a_change_is_told_once(control):
    windows = Windows(MOST, 10 * S, 3 * S, control)
    changes = [at_s for at_s in range(25) if windows.changes(START + at_s * S, 0)]
    assert changes == [3, 10, 13, 20, 23]


def test_steps_longer_than_a_window_are_told_where_they_begin_in_one(control):
    assert told(Windows(MOST, 10 * S, 3 * S, control), [0, 7, 14, 21, 28, 35, 42, 49, 56, 63]) == [0, 21, 42]


def test_where_the_room_fills_one_of_two_windows_is_left(control):
    filled = MOST // PARTS + 1
    windows = Windows(MOST, 10 * S, 3 * S, control)
    assert told(windows, range(60), used=lambda at_s: filled if at_s > 5 else 0) == [0, 1, 2, 20, 21, 22, 40, 41, 42]
    assert windows.level == 1


def test_a_fork_has_room_of_its_own_and_the_same_windows(control):
    windows = Windows(MOST, 10 * S, 3 * S, control)
    told(windows, range(5), used=lambda _: MOST // PARTS - 1)
    windows.forked()
    assert told(windows, range(5, 15), used=lambda _: MOST // PARTS - 1) == [10, 11, 12]


def test_the_device_is_left_alone_at_rest(monkeypatch):
    monkeypatch.setattr(pace, "COST_NS", 0)
    backend, recorder = SimBackend(), Recorder()
    clock = DeviceClock(recorder, lambda: backend, backend.now_ns)

    def step(ordinal):
        clock.requested(1, outermost=True)
        backend.device.clock.sleep(0.01)
        clock.got(1, ordinal, NEXT_BATCH)
        backend.device.launch(0.01)

    for ordinal in range(3):
        step(ordinal)
    clock.rests()
    assert hearing.clock is None
    backend.device.clock.sleep(600.0)
    for ordinal in range(50, 53):
        step(ordinal)
    backend.device.synchronize()
    clock.finished()
    rows = recorder.rows_of("device_step")
    assert [row["ordinal"] for row in rows[:3]] == [0, 1, 2]
    assert {row["ordinal"] for row in rows[3:]} <= {50, 51, 52}
    assert max(row["step_ns"] for row in rows) < S, "no step holds the rest"


# --- a whole process

SCRIPT = """
import sys, torch
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    def __len__(self):
        return 100
    def __getitem__(self, index):
        return torch.ones(4)

if __name__ == "__main__":
    epochs, workers, persistent = map(int, sys.argv[1:])
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-6)
    loader = DataLoader(Numbers(), batch_size=10, num_workers=workers, persistent_workers=bool(persistent))
    for _ in range(epochs):
        for batch in loader:
            model(batch).sum().backward()
            optimizer.step()
"""
AT_ONCE_AT_REST = "100000:0.000001"
DETAIL = ("next", "fetch", "busy", "send", "arrival", "optimizer_step", "since_start", "stage", "stack", "pin")


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


@pytest.mark.parametrize("arguments", [("20", "0", "0"), ("6", "1", "0"), ("20", "1", "1")])
def test_at_rest_batches_and_epochs_are_counted_and_nothing_else_is_written(tmp_path, script, arguments):
    folder = tmp_path / "run"
    folder.mkdir()
    run(script, folder, *arguments, LOADERDOCTOR_WINDOWS=AT_ONCE_AT_REST)
    main, epochs = main_of(folder), int(arguments[0])
    calls = [row for row in main.of("next") if row["status"] == NEXT_BATCH]
    counted = [row for row in main.of("passed") if row["loader"] > 0]
    assert len(calls) == 1
    assert len(calls) + sum(row["batches"] for row in counted) == 10 * epochs
    assert sum(row["epochs"] for row in counted) == epochs - 1
    assert all(0 < row["wait_ns"] < row["end_ns"] - row["begin_ns"] for row in counted)
    for process in (main, *workers_of(folder)):
        assert sum(len(process.of(kind)) for kind in DETAIL) <= len(DETAIL)


def test_a_longer_rest_writes_no_more(tmp_path, script):
    sizes = []
    for epochs in ("10", "100"):
        folder = tmp_path / epochs
        folder.mkdir()
        run(script, folder, epochs, "0", "0", LOADERDOCTOR_WINDOWS=AT_ONCE_AT_REST)
        rows = main_of(folder).rows
        sizes.append(len([name for name, _ in rows if name != "iterator"]))
    assert sizes[0] == sizes[1]


def test_steps_are_counted_at_rest_too(tmp_path, script):
    folder = tmp_path / "run"
    folder.mkdir()
    run(script, folder, "100", "0", "0", LOADERDOCTOR_WINDOWS=AT_ONCE_AT_REST, LOADERDOCTOR_STEPS="90")
    assert sum(row["batches"] for row in main_of(folder).of("passed")) + 1 == 100


@pytest.mark.parametrize("windows", ["", "x", "10", "10:x"])
def test_what_is_no_window_is_none(tmp_path, script, windows):
    folder = tmp_path / "run"
    folder.mkdir()
    run(script, folder, "2", "0", "0", LOADERDOCTOR_WINDOWS=windows)
    assert len([row for row in main_of(folder).of("next") if row["status"] == NEXT_BATCH]) == 20


# --- read again


def outline_of(calls, passed):
    """`calls` begin at these times and take 1; `passed` are (begin, level, window) of what went without detail."""
    rows = [(1, k, begin, begin + 1, NEXT_BATCH, 0) for k, begin in enumerate(calls)]
    stretches = [(begin, level, 0, -1, window) for begin, level, window in passed]
    import numpy as np

    def table(rows, width):
        return np.asarray(rows, dtype=np.int64).reshape(-1, width)

    return outline.Outline(table(rows, 6), table([], 3), table([], 2), table(stretches, 5))


READ = {
    "windows, and the end at rest": ([1, 3, 101, 103], [(10, 0, 1), (110, 0, 2)], [(1, 10), (101, 110)]),
    "the end in a window": ([1, 3, 101, 103], [(10, 0, 1)], [(1, 10), (101, 105)]),
    "one window": ([1, 3], [(10, 0, 1)], [(1, 10)]),
    "later every second one": (
        [1, 3, 101, 201, 401],
        [(10, 0, 1), (110, 0, 2), (210, 1, 3), (410, 1, 5)],
        [(1, 10), (201, 210), (401, 410)],
    ),
}


@pytest.mark.parametrize("case", READ)
def test_what_is_read_of_windows(case):
    calls, passed, spans = READ[case]
    assert outline_of(calls, passed).recorded().spans == spans


def test_the_record_has_room_for_what_is_told_of_windows(tmp_path, script):
    folder = tmp_path / "run"
    folder.mkdir()
    run(script, folder, "20", "0", "0", LOADERDOCTOR_WINDOWS=AT_ONCE_AT_REST)
    (path,) = (folder / "records").glob("main-*.bin")
    (begun,) = [row for row in main_of(folder).of("passed") if row["loader"] == -1]
    assert (begun["bits"], begun["window"]) == (0, 1)
    assert path.stat().st_size % RECORD_BYTES == 0
    assert read_process(path).tables["passed"]["window"].max() == 1
    assert KIND_OF["passed"] == 34
