"""The time from next() to the loop's first line, heard on sampled steps, on every Python's own way of telling."""

from __future__ import annotations

import sys
import time
import weakref
from types import SimpleNamespace

import pytest
from probe_recorder import MS, Recorder

from loaderdoctor.probe._importlib_bootstrap.handing_over import EVERY, LONG_NS, OFTEN, is_due, listen

FREEING_S = 0.02
HEARS = sys.version_info >= (3, 11)  # before, being traced keeps a frame's locals alive
HEARS_ONE_LINE = HEARS and sys.version_info < (3, 12)  # later ones tell of a line only when it is another one


class Batch:
    """Takes its time to be given back."""

    def __del__(self):
        time.sleep(FREEING_S)


class Loader:
    """Listens at each next()."""

    def __init__(self, recorder, count):
        self.recorder, self.count, self.given = recorder, count, 0
        self.watch = SimpleNamespace(iterator=7, ordinal=0, gave_ns=0)

    def __iter__(self):
        return self

    def __next__(self):
        if self.given == self.count:
            self.watch.ordinal += 1  # as the hook counts the last next()
            raise StopIteration
        self.given += 1
        self.watch.ordinal = self.given
        batch = Batch()
        listen(self.recorder, self.watch, self.given - 1, sys._getframe(1))
        return batch


def heard_ms(recorder):
    return [(row["ordinal"], (row["end_ns"] - row["begin_ns"]) / MS) for row in recorder.rows_of("handed_over")]


def check(recorder, count, hears=HEARS):
    times = heard_ms(recorder)
    assert sys.gettrace() is None
    if not hears:
        assert times == []
        return
    assert [ordinal for ordinal, _ in times] == list(range(count))
    assert times[0][1] < FREEING_S * 500, "the first has none to give back"
    assert all(ms >= FREEING_S * 1000 for _, ms in times[1:])


def test_giving_the_batch_before_back_is_heard_where_it_happens():
    recorder = Recorder()
    for batch in Loader(recorder, 4):
        kept = batch
        del kept
    check(recorder, 4)


def test_a_loop_of_one_line_is_heard_too():
    recorder = Recorder()
    for _ in Loader(recorder, 4): pass  # fmt: skip  # noqa: E701 - the line is the case
    check(recorder, 4, HEARS_ONE_LINE)


def test_nothing_is_kept_alive():
    recorder = Recorder()
    alive = []
    for batch in Loader(recorder, 3):
        alive.append(weakref.ref(batch))
        assert [one() is not None for one in alive] == [False] * (len(alive) - 1) + [True]
    del batch
    assert [one() for one in alive] == [None] * 3


def test_enumerate_and_other_iterators_in_c_are_no_matter():
    recorder = Recorder()
    for _, _batch in enumerate(Loader(recorder, 3)):
        time.sleep(0)
    assert len(heard_ms(recorder)) == (3 if HEARS else 0)


@pytest.mark.parametrize("take", [sys.settrace, sys.setprofile], ids=["tracer", "profiler"])
def test_a_script_that_traces_or_profiles_is_left_alone(take):
    recorder, seen = Recorder(), []

    def mine(_frame, event, _arg):
        seen.append(event)

    before = sys.gettrace() if take is sys.settrace else sys.getprofile()
    take(mine)
    try:
        for _batch in Loader(recorder, 3):
            time.sleep(0)
    finally:
        take(before)
    assert recorder.rows == []
    assert seen


def test_a_loop_that_is_left_hears_no_more():
    recorder = Recorder()

    def taken():
        return next(Loader(recorder, 3))

    taken()
    for _ in range(200):
        taken.__name__.upper()
        str(Recorder())
    assert sys.gettrace() is None


def test_a_tracer_that_the_script_begins_later_is_never_ended_by_us():
    """A loop that goes on calling, so that ours gives up; then the script traces, in the very frame."""
    recorder, seen = Recorder(), []

    def taken(loader):
        return [next(loader), [str(k) for k in range(300)]]

    def mine(_frame, event, _arg):
        seen.append(event)
        return mine

    before = sys.gettrace()
    taken(Loader(recorder, 3))
    sys.settrace(mine)
    sys._getframe().f_trace = mine
    try:
        str(Recorder())
        assert sys.gettrace() is mine
    finally:
        sys.settrace(before)
        sys._getframe().f_trace = None
    assert "line" in seen


@pytest.mark.parametrize(("gave_ns", "every"), [(0, EVERY), (LONG_NS, EVERY), (LONG_NS + 1, OFTEN)])
def test_one_step_in_many_is_listened_to_and_more_where_batches_are_long_in_being_given_back(gave_ns, every):
    due = [ordinal for ordinal in range(100) if is_due(ordinal, gave_ns)]
    assert due == list(range(1, 100, every))


@pytest.mark.skipif(not HEARS, reason="there is no hand-over to be heard in this Python")
def test_what_was_heard_last_is_kept_with_the_iterator():
    loader = Loader(Recorder(), 3)
    for _ in loader:
        pass
    assert loader.watch.gave_ns >= FREEING_S * 1e9
