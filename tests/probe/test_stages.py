"""The stages of a profiled batch: what is known as it is called, what it adds up, and that nothing is replaced."""

from __future__ import annotations

import io
import sys
import textwrap
import types
import zipfile

import pytest
from PIL import Image
from probe_recorder import MS, Recorder

from loaderdoctor.probe import profiled
from loaderdoctor.probe.stages import Known, table

LIBRARY = """
import time
def burn(rounds):
    for _ in range(rounds * 50_000):
        pass
def decode(rounds):
    burn(rounds)
def read(own, inner):
    burn(own)
    decode(inner)
def wait(seconds):
    time.sleep(seconds)
def fails():
    raise KeyError("sample 9")
class Archive:
    def get(self):
        burn(1)
class Compose:
    def __init__(self, transforms):
        self.transforms = transforms
    def __call__(self, img):
        for t in self.transforms:
            img = t(img)
        return img
"""
ROWS = (("decode", "decode"), ("read", "read"), ("wait", "read"), ("fails", "read"), ("Archive.get", "read"))


@pytest.fixture
def library(monkeypatch):
    """A library that is not installed here, known by a table of its own."""
    module = types.ModuleType("shelf")
    exec(textwrap.dedent(LIBRARY), module.__dict__)  # noqa: S102 - a library that is not installed here
    monkeypatch.setitem(sys.modules, "shelf", module)
    monkeypatch.setattr(table, "FUNCTIONS", {**table.FUNCTIONS, "shelf": (*ROWS, ("absent", "read"))})
    monkeypatch.setattr(table, "CONTAINERS", {"shelf": ("Compose.__call__",)})
    monkeypatch.setattr(profiled, "_known", Known())
    return module


def batches(make, count=profiled.FIRST_AFTER + 1, worker=3):
    """The recorder after so many batches, of which the last one is profiled."""
    recorder = Recorder()
    profiled._due.__init__()
    for _ in range(count):
        profiled.batch_began()
        try:
            make()
        finally:
            profiled.batch_ended(recorder, worker)
    return recorder


def test_a_stage_does_not_own_the_time_of_the_stages_inside_it(library):
    for _ in range(3):  # another program that takes the core for a while costs a stretch of it CPU time
        stages = batches(lambda: library.read(6, 20)).stages()
        read, decode = stages["read:shelf.read"], stages["decode:shelf.decode"]
        if decode["self_cpu_ns"] / read["self_cpu_ns"] == pytest.approx(20 / 6, rel=0.3):
            break
    assert decode["self_cpu_ns"] / read["self_cpu_ns"] == pytest.approx(20 / 6, rel=0.3)
    assert read["total_ns"] >= decode["total_ns"] + read["self_ns"]
    assert (read["calls"], read["worker"]) == (1, 3)


def test_waiting_shows_as_wall_time_without_cpu_time(library):
    row = batches(lambda: library.wait(0.03)).stages()["read:shelf.wait"]
    assert row["self_ns"] >= 30 * MS
    assert row["self_cpu_ns"] < 3 * MS


def test_methods_and_what_an_exception_ends_are_stages_too(library):
    def make():
        library.Archive().get()
        with pytest.raises(KeyError, match="sample 9"):
            library.fails()

    stages = batches(make).stages()
    assert {"read:shelf.Archive.get", "read:shelf.fails"} <= set(stages)


def test_each_transform_of_a_container_is_a_stage(library):
    class Flip:
        def __call__(self, x):
            return -x

    def shift(x):
        return x + 1

    stages = batches(lambda: library.Compose([Flip(), shift])(4)).stages()
    assert {name: row["calls"] for name, row in stages.items()} == {"transform:Flip": 1, "transform:shift": 1}


def test_what_a_stream_goes_through_for_a_batch_is_counted():
    """Every tenth of forty items is yielded, as by one of ten workers that each parse all of them."""

    def part_of_all():
        for item in range(40):
            nothing()
            if item % 10 == 9:
                yield item

    recorder = Recorder()
    profiled._due.__init__()
    for _ in range(profiled.FIRST_AFTER + 1):
        stream = part_of_all()
        profiled.batch_began()
        for _ in range(4):
            next(stream)
        profiled.batch_ended(recorder, 3)
    assert {name: row["calls"] for name, row in recorder.stages().items()} == {"called:nothing": 40}


def test_what_samples_by_number_call_is_not():
    recorder = batches(lambda: [calls_for(2) for _ in range(20)])
    assert recorder.stages() == {}


def test_only_one_batch_in_many_is_profiled_and_says_so(library):
    recorder = batches(lambda: library.decode(1), count=profiled.FIRST_AFTER + profiled.EVERY)
    assert [row["batches"] for row in recorder.rows_of("profiled")] == [1]
    (row,) = recorder.rows_of("stage")
    (batch,) = recorder.rows_of("profiled")
    assert row["at_ns"] == batch["at_ns"]
    assert row["self_ns"] <= batch["wall_ns"]


def nothing():
    """Called often."""


def calls_for(count):
    for _ in range(count):
        nothing()


def test_what_the_profiler_costs_is_taken_off(library, monkeypatch):
    """A stage of a hundred thousand calls that do nothing takes a hundred times as long under the profiler as without it."""
    library.decode.__code__ = calls_for.__code__
    library.nothing = nothing
    told_ns = {}
    for corrected, event_ns in ((True, []), (False, [0.0])):
        monkeypatch.setattr(profiled, "_event_ns", event_ns)  # an empty one is filled by measuring
        told_ns[corrected] = batches(lambda: library.decode(100_000)).stages()["decode:shelf.decode"]["self_ns"]
    assert told_ns[True] < told_ns[False] / 3


def test_a_profiler_or_tracer_of_the_script_is_left_alone(library):
    for take, give, mine in (
        (sys.setprofile, sys.getprofile, lambda *_: None),
        (sys.settrace, sys.gettrace, lambda *_: None),
    ):
        before = give()
        take(mine)
        try:
            recorder = batches(lambda: library.decode(1), count=profiled.FIRST_AFTER + 3)
            assert give() is mine
        finally:
            take(before)
        assert recorder.rows == []


def test_real_libraries_are_known_and_not_touched(tmp_path, monkeypatch):
    monkeypatch.setattr(profiled, "_known", Known())
    before = {name: getattr(Image, name) for name in ("open",)} | {"read": zipfile.ZipFile.read}
    jpeg = io.BytesIO()
    Image.effect_noise((640, 480), 60).save(jpeg, "JPEG")
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as archive:
        archive.writestr("one.jpg", jpeg.getvalue())

    def pixels():
        with zipfile.ZipFile(tmp_path / "photos.zip") as archive:
            Image.open(io.BytesIO(archive.read("one.jpg"))).convert("RGB").tobytes()

    stages = batches(pixels).stages()
    assert {"read:PIL.Image.open", "decode:PIL.ImageFile.ImageFile.load", "read:zipfile.ZipFile.read"} <= set(stages)
    assert stages["decode:PIL.ImageFile.ImageFile.load"]["self_cpu_ns"] > MS // 2
    assert before == {"open": Image.open, "read": zipfile.ZipFile.read}


def test_a_fault_of_ours_in_a_profiled_batch_reaches_nobody(library, monkeypatch):
    def fails(*_arguments):
        raise RuntimeError("a stage nobody knows")

    monkeypatch.setattr(Known, "of_call", fails)
    assert batches(lambda: library.decode(1)).stages() == {}
    assert sys.getprofile() is None
