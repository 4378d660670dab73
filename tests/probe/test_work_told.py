"""What the probe tells for the causes of work: sizes of images, interpreted code, caches, collections, what was written."""

from __future__ import annotations

import functools
import gc
import io
from collections import OrderedDict
from types import SimpleNamespace

import pytest
import torch
from PIL import Image
from probe_recorder import Recorder

from loaderdoctor.probe import profiled, state
from loaderdoctor.probe.settings import caches_of
from loaderdoctor.probe.stages import Known
from loaderdoctor.probe.usage import Collections


def profile_of(make, monkeypatch):
    """The recorder after one profiled batch."""
    monkeypatch.setattr(profiled, "_known", Known())
    recorder = Recorder()
    profiled._due.__init__()
    for _ in range(profiled.FIRST_AFTER + 1):
        profiled.batch_began()
        make()
        profiled.batch_ended(recorder, 1)
    return recorder


def jpeg(width, height):
    file = io.BytesIO()
    Image.effect_noise((width, height), 60).save(file, "JPEG")
    return file


@pytest.mark.parametrize(("draft", "decoded"), [(False, 640 * 480), (True, 160 * 120)], ids=["whole", "draft"])
def test_pixels_are_those_that_are_decoded_and_those_that_are_left(draft, decoded, monkeypatch):
    file = jpeg(640, 480)

    def make():
        image = Image.open(file)
        if draft:
            image.draft("L", (100, 100))
        image.convert("L").convert("RGB").resize((20, 10))

    stages = profile_of(make, monkeypatch).stages()
    load, resize = stages["decode:PIL.ImageFile.ImageFile.load"], stages["transform:PIL.Image.Image.resize"]
    assert (load["pixels_in"], load["pixels_out"]) == (0, decoded)
    assert (resize["pixels_in"], resize["pixels_out"]) == (decoded, 200)


def test_an_image_of_the_scripts_own_class_is_not_asked():
    class Mine(Image.Image):
        @property
        def size(self):
            raise RuntimeError("the script's own code")

    frame = SimpleNamespace(
        f_code=Image.Image.resize.__code__,
        f_globals=Image.Image.resize.__globals__,
        f_locals={"self": Mine.__new__(Mine), "size": (2, 2)},
    )
    assert Known().pixels_of(frame) == (0, 0)


MOST_TRIES = 40  # of some 50 ms: a machine that is slow to tell the time is so for seconds


@pytest.mark.parametrize(
    ("make", "least", "most"),
    [
        (lambda: [abs(-number) for number in range(20_000)], 0.5, 1.0),
        (lambda: [sum(range(400_000)) for _ in range(3)], 0.0, 0.3),
    ],
    ids=["short-calls", "long-calls"],
)
def test_short_stretches_between_calls_are_the_interpreters(make, least, most, monkeypatch):
    # What an event costs is measured by a few calls: a neighbour that disturbs those makes one profile take off too much.
    shares = []
    while len(shares) < MOST_TRIES and not any(least <= share <= most for share in shares):
        monkeypatch.setattr(profiled, "_event_ns", [])
        (row,) = profile_of(make, monkeypatch).rows_of("profiled")
        shares.append(row["interpreted_ns"] / max(1, row["cpu_ns"]))
    assert least <= shares[-1] <= most, shares


def loop_of_floats():
    total, values = 0.0, [number / 7 for number in range(300)]
    for first in values:
        for second in values:
            total += first * second if first > second else first - second
    return total


def loop_of_arrays():
    total = array = torch.ones(20_000)
    for _ in range(200):
        total = total * array + array
    return total


@pytest.mark.parametrize(("make", "is_python"), [(loop_of_floats, True), (loop_of_arrays, False)])
def test_loops_that_call_nothing_are_told_by_what_they_compute_with(make, is_python, monkeypatch):
    (row,) = profile_of(make, monkeypatch).rows_of("profiled")
    share = row["interpreted_ns"] / row["cpu_ns"]
    assert (share > 0.7) == is_python
    assert (share < 0.3) == (not is_python)


class Cached:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Remembering:
    @functools.lru_cache  # noqa: B019 - what scripts do
    def load(self, i):
        return i


@pytest.mark.parametrize(
    ("dataset", "told"),
    [
        (Cached(files=[1], cache={}), "cache"),
        (Cached(_memo=OrderedDict(), cached_items=[None, None]), "_memo, cached_items"),
        (Cached(cache={1: 2}), ""),
        (Cached(cache=None, cache_dir="x", use_cache=True), ""),
        (Cached(dataset=Cached(cache={})), "cache"),
        (Remembering(), "load"),
        ([1, 2, 3], ""),
    ],
    ids=["empty", "other-words", "filled", "no-container", "wrapped", "lru_cache", "list"],
)
def test_caches_are_told_by_name_and_type(dataset, told):
    assert caches_of(SimpleNamespace(dataset=dataset)) == told


def test_collections_are_counted_from_look_to_look():
    collections = Collections()
    collections.look()
    gc.collect()
    assert collections.look() >= 1
    assert collections.seen == gc.get_stats()[-1]["collections"]


def test_a_request_is_recorded_where_something_has_grown(tmp_path, monkeypatch):
    (tmp_path / "records").mkdir()
    probe = state.Probe(str(tmp_path), None, None)
    recorder = Recorder()
    monkeypatch.setattr(probe, "writer", recorder)
    written = iter([3, 3, 9])
    monkeypatch.setattr(state, "blocks_written", lambda: next(written))
    monkeypatch.setattr(probe.collections, "look", lambda: 0)
    for ordinal in range(3):
        probe.requested(1, ordinal, state.SHORT_LOOP_NS)
    assert [(row["ordinal"], row["blocks_out"]) for row in recorder.rows_of("since_start")] == [(0, 3), (2, 9)]


@pytest.mark.parametrize(("loop_ns", "looks"), [(state.SHORT_LOOP_NS - 1, 0), (state.SHORT_LOOP_NS, 1)])
def test_nothing_is_asked_after_a_loop_too_short_to_have_written_or_collected(tmp_path, monkeypatch, loop_ns, looks):
    (tmp_path / "records").mkdir()
    probe = state.Probe(str(tmp_path), None, None)
    asked = []
    monkeypatch.setattr(state, "blocks_written", lambda: len(asked.append(1) or asked))
    probe.thread.got_ns = 5
    probe.requested(1, 0, 5 + loop_ns)
    assert len(asked) == looks
