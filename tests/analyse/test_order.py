"""Gaps and what fills them, streams that pay back or end, repeated batches: from records to signals."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from loaderdoctor.analyse.loaders import Loader
from loaderdoctor.analyse.order import ALIKE, NO_CONTENT, order_of
from loaderdoctor.analyse.signals import LoaderSettings
from loaderdoctor.probe.layout import BUILT, NEXT_END, RESET
from loaderdoctor.record.run import ProcessRecords
from loaderdoctor.values import Measured, Missing

MS = 1_000_000
STEP, USE, GAP = 20 * MS, 18 * MS, 300 * MS
NO_STACKS = pd.DataFrame({"frames": [], "cpu_ns": [], "samples": []})
NOBODY = ProcessRecords({"pid": 1}, {}, {})


class Passes:
    """Passes of two workers over a loader: a gap, then steps; `wall` says what worker w's n-th batch of a pass takes."""

    def __init__(self, *, epochs=4, steps=20, wall=lambda _worker, _n: 5 * MS, how=BUILT, begins=0, ends=True, **more):
        self.how, self.ends = how, ends
        self.steps, self.made, self.loops = [], [], []
        self.contents = more.get("contents")
        self.workers = more.get("workers", 2)
        self.numbers = more.get("numbers", 1)
        self.chosen = more.get("chosen", 0)
        now = 10**9
        for loop in range(epochs):
            self._pass(loop, now, steps, wall, begins)
            now += GAP + steps * STEP

    def _pass(self, loop, now, steps, wall, begins):
        number = 1 + loop % self.numbers
        self.loops.append(
            {
                "begin_ns": now,
                "end_ns": now + MS,
                "how": self.how,
                "sampler_ns": self.chosen,
                "loader": number,
                "iterator": 1,
            }
        )
        for key in range(steps):
            got = now + GAP + key * STEP
            asked = got - 2 * MS if key else now
            self.steps.append(
                {
                    "loop": loop,
                    "key": key,
                    "loader": number,
                    "begin_ns": asked,
                    "got_ns": got,
                    "end_ns": got + USE,
                    "is_first": key == 0,
                    "build_ns": MS if key == 0 else 0,
                    "wait_ns": GAP if key == 0 else 2 * MS,
                    "chunk_ns": STEP if key else GAP + STEP,
                    "sampler_ns": 0,
                    "measured": loop > 0,
                    "stash": 0,
                    "iterator": 1,
                }
            )
        of_worker = [0, 0]
        for key in range(steps):
            worker = key % self.workers
            took = wall(worker, of_worker[worker])
            begin = now + begins if key < self.workers else now + GAP + key * STEP
            slow = took if of_worker[worker] == 0 else took // 10
            self.made.append(
                {
                    "loop": loop,
                    "key": key,
                    "worker": worker,
                    "begin_ns": begin,
                    "end_ns": begin + took,
                    "wall_ns": took,
                    "items_ns": took,
                    "slowest_ns": slow,
                    "slowest_position": 0,
                    "samples": 8,
                    "pickle_ns": 0,
                    "loader": number,
                    "content": self._content(worker, of_worker[worker], loop),
                }
            )
            of_worker[worker] += 1

    def _content(self, worker, n, loop):
        return -1 if self.contents is None else self.contents(worker, n, loop)

    def signals(self, kind="map", workers=2):
        steps, made = pd.DataFrame(self.steps), pd.DataFrame(self.made).astype({"wall_ns": float})
        calls = pd.DataFrame([{"loop": k, "status": NEXT_END} for k in range(len(self.loops)) if self.ends])
        timeline = SimpleNamespace(
            loops=pd.DataFrame(self.loops).rename_axis("loop"),
            steps=steps,
            measured=steps[steps["measured"]],
            calls=calls if len(calls) else pd.DataFrame({"loop": [], "status": []}),
            from_ns=int(steps.loc[~steps["measured"], "end_ns"].max()),
        )
        loader = Loader(
            "train.py:1",
            "train",
            None,
            LoaderSettings(num_workers=workers, dataset_kind=kind),
            frozenset(range(1, self.numbers + 1)),
        )
        return order_of(loader, steps[steps["measured"]], made, NO_STACKS, timeline=timeline, main=NOBODY)


def test_new_workers_fill_the_gap_until_the_first_batch_is_begun():
    order = Passes(begins=280 * MS).signals()
    assert order.gap_start_share.value == pytest.approx(280 / 300)
    assert order.gap_usual_share.value == pytest.approx(5 / 300)
    assert order.gap_extra_share.value == 0
    assert order.restart_s == pytest.approx(0.28)


def test_workers_that_stay_start_nothing():
    assert Passes(begins=280 * MS, how=RESET).signals().gap_start_share.value == 0


def test_a_slow_first_batch_is_told_from_the_usual_part_of_it():
    order = Passes(wall=lambda _, n: 250 * MS if n == 0 else 5 * MS, how=RESET).signals("iterable")
    assert order.gap_extra_share.value == pytest.approx(245 / 300)
    assert order.gap_usual_share.value == pytest.approx(5 / 300)
    assert order.before_first_share.value == 1
    assert order.paid_back_share.value == 0


def test_a_first_batch_that_is_like_all_others_has_nothing_extra():
    order = Passes(wall=lambda *_: 200 * MS, how=RESET).signals("iterable")
    assert (order.gap_usual_share.value, order.gap_extra_share.value) == (pytest.approx(200 / 300), 0)
    assert order.paid_back_share.slug == "no-extra"


def test_a_buffer_pays_back_at_the_end_what_it_took_at_the_start():
    order = Passes(wall=lambda _, n: 60 * MS if n == 0 else 10 * MS if n < 5 else 0).signals("iterable")
    assert order.paid_back_share.value == pytest.approx(50 / 50)


def test_a_stream_that_is_left_does_not_tell():
    order = Passes(wall=lambda _, n: 60 * MS if n == 0 else 10 * MS, ends=False).signals("iterable")
    assert order.paid_back_share.slug == "no-whole-pass"


@pytest.mark.parametrize(("numbers", "rebuilt"), [(1, False), (2, False), (4, True)])
def test_a_loader_object_for_most_epochs_is_one_that_is_built_anew(numbers, rebuilt):
    assert Passes(numbers=numbers).signals().rebuilt is rebuilt


def test_indices_that_are_chosen_before_an_epoch_count():
    order = Passes(chosen=200 * MS, how=RESET).signals()
    assert order.gap_choose_share.value == pytest.approx(200 / 300)
    assert order.sampler_share.value == pytest.approx(200 / (300 + 20 * 20))


def test_supply_counts_the_workers_that_make_anything():
    assert Passes(wall=lambda *_: 9 * MS).signals().supply.value == pytest.approx(2 * 18 / 9)


@pytest.mark.parametrize(
    ("contents", "share"),
    [
        (lambda _worker, n, loop: 1 + n + 100 * loop, 1.0),
        (lambda worker, n, loop: 1 + 2 * n + worker + 100 * loop, 0.0),
        (lambda _worker, _n, _loop: 7, ALIKE),
        (None, NO_CONTENT),
    ],
    ids=["all of it twice", "shared out", "nothing but equal ones", "not recorded"],
)
def test_repeated_batches(contents, share):
    value = Passes(contents=contents).signals("iterable").repeated_share
    assert value == share if isinstance(share, Missing) else value.value == share


def test_workers_whose_part_has_ended_idle():
    passes = Passes(steps=20, workers=1)  # the other one finds nothing
    for loop in range(4):
        begun = passes.loops[loop]["begin_ns"]
        empty = {
            **passes.made[0],
            "loop": loop,
            "key": 99,
            "worker": 1,
            "begin_ns": begun,
            "end_ns": begun,
            "samples": 0,
        }
        passes.made.append(empty)
    order = passes.signals("iterable")
    assert order.streams == 1
    assert order.idle_at_end_share.value == pytest.approx(0.5)
    assert order.waits_at_end_share.value == 1.0


def test_a_sampler_s_workers_have_no_part_of_their_own():
    assert isinstance(Passes().signals().idle_at_end_share, Missing)
    assert isinstance(Passes().signals().supply, Measured)
