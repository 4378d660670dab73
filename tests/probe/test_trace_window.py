"""The window under torch's profiler: what it adds up, when it opens, and when it refuses."""

from __future__ import annotations

import sys
import types

import pytest
from probe_recorder import Recorder
from probing import main_of, run

from loaderdoctor.probe.layout import KINDS
from loaderdoctor.probe.trace_window import Operation, TraceWindow, read_operations, summary

FIELDS = KINDS[33][1]
US = 1000


def operations(drawing):
    """Of a line with a character a µs: `k` kernel, `h` copy to the device, `b` both, `.` nothing."""
    found, at = [], 0
    for character in drawing:
        if character in "kb":
            found.append(Operation(at, at + US, is_copy=False))
        if character in "hb":
            found.append(Operation(at, at + US, is_copy=True))
        at += US
    return found


def waits(drawing):
    """Spans of `w` in a line with a character a µs."""
    spans, at = [], 0
    for character in [*drawing, "."]:
        if character == "w":
            spans = [*spans[:-1], (spans[-1][0], at + US)] if spans and spans[-1][1] == at else [*spans, (at, at + US)]
        at += US
    return spans


# device, waits -> idle, idle inside next(), copies (µs, from the first wait on)
TABLE = [
    ("kkkk....kkkk", "....wwww....", 4, 4, 0),
    ("kkkkkkkkkkkk", "....wwww....", 0, 0, 0),
    ("kkkkkk..kkkk", "....wwww....", 2, 2, 0),
    ("kkkk....kk..", "....wwww....", 6, 4, 0),
    ("....bbhhkk..", "..ww....ww..", 4, 2, 4),
    ("............", "ww..ww..ww..", 12, 6, 0),
    ("kkkkkkkkkkkk", "wwwwwwwwwwww", 0, 0, 0),
]


@pytest.mark.parametrize(("device", "asked", "idle", "inside", "copies"), TABLE)
def test_what_the_device_did_is_added_up(device, asked, idle, inside, copies):
    told = dict(zip(FIELDS, summary(operations(device), waits(asked), 0, len(device) * US), strict=True))
    assert (told["idle_ns"], told["idle_in_next_ns"], told["copy_ns"]) == (idle * US, inside * US, copies * US)
    assert told["first_ns"] == waits(asked)[0][0]
    assert told["steps"] == len(waits(asked))


class Event:
    def __init__(self, kind, name, start, duration):
        self.kind, self.text, self.start, self.duration = kind, name, start, duration

    def device_type(self):
        return self.kind

    def name(self):
        return self.text

    def start_ns(self):
        return self.start

    def duration_ns(self):
        return self.duration


EVENTS = [
    Event("DeviceType.CPU", "aten::mm", 5_000_100, 50),
    Event("DeviceType.CUDA", "sgemm", 5_000_200, 30),
    Event("DeviceType.CUDA", "Memcpy HtoD (Pageable -> Device)", 5_000_300, 40),
    Event("DeviceType.CUDA", "Memcpy DtoH (Device -> Pageable)", 5_000_400, 10),
]


def test_events_become_operations_on_the_records_clock():
    assert read_operations(EVENTS, 5_000_000) == [
        Operation(200, 230, is_copy=False),
        Operation(300, 340, is_copy=True),
        Operation(400, 410, is_copy=False),
    ]


class FakeProfiler:
    def __init__(self, activities):
        self.activities = activities
        self.running = False
        events = types.SimpleNamespace(events=lambda: EVENTS)
        self.profiler = types.SimpleNamespace(kineto_results=events)

    def start(self):
        self.running = True

    def stop(self):
        self.running = False


def fake_torch(*, busy=False, kinds=("CUDA",), device="cuda"):
    made = []

    def profile(activities):
        made.append(FakeProfiler(activities))
        return made[-1]

    activity = types.SimpleNamespace(CPU="CPU", CUDA="CUDA")
    return made, types.SimpleNamespace(
        autograd=types.SimpleNamespace(_profiler_enabled=lambda: busy),
        accelerator=types.SimpleNamespace(
            is_available=lambda: device is not None, current_accelerator=lambda: types.SimpleNamespace(type=device)
        ),
        profiler=types.SimpleNamespace(
            profile=profile, ProfilerActivity=activity, supported_activities=lambda: {"CPU", *kinds}
        ),
    )


def test_it_opens_once_counts_its_steps_and_writes_one_record(monkeypatch):
    made, torch = fake_torch()
    monkeypatch.setitem(sys.modules, "torch", torch)
    recorder = Recorder()
    window = TraceWindow(recorder, 2)
    window.waited(1, 2)
    assert window.goes_on()
    assert made[0].activities == ["CUDA"]
    assert made[0].running
    window.waited(3, 4)
    assert window.goes_on()
    window.waited(5, 6)
    assert not window.goes_on()
    assert not made[0].running
    assert not window.goes_on()
    (record,) = recorder.rows_of("trace_window")
    assert (record["steps"], record["operations"], record["copy_ns"]) == (2, 3, 40)
    assert len(made) == 1


REFUSALS = {
    "a profiler of the script's": {"busy": True},
    "no device": {"device": None},
    "a device that cannot be traced": {"device": "mps"},
    "a build without the activity": {"kinds": ()},
}


@pytest.mark.parametrize("why", REFUSALS)
def test_it_refuses(why, monkeypatch):
    made, torch = fake_torch(**REFUSALS[why])
    monkeypatch.setitem(sys.modules, "torch", torch)
    recorder = Recorder()
    window = TraceWindow(recorder, 2)
    assert not window.goes_on()
    assert not window.goes_on()
    assert made == []
    assert [slug for slug, _ in recorder.notes] == ["trace-window-refused"]


def test_on_a_cpu_the_script_ends_without_it_and_says_so(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        "import torch\n"
        "from torch.utils.data import DataLoader, TensorDataset\n"
        "for batch in DataLoader(TensorDataset(torch.zeros(400)), batch_size=4):\n"
        "    pass\n"
        "print('never reached')\n"
    )
    steps = {"LOADERDOCTOR_STEPS": "20", "LOADERDOCTOR_TRACE_WINDOW": "5"}
    assert run(script, tmp_path / "run", **steps).stdout == ""
    main = main_of(tmp_path / "run")
    assert [row["slug_text"] for row in main.of("note")] == ["trace-window-refused"]
    assert [row["why"] for row in main.of("end")] == [1]
