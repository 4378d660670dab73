"""The device clock where things are not as in the plain loop: threads, nesting, graphs, other streams, weak devices."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from device_backends import SimBackend
from probe_recorder import Recorder

from loaderdoctor.probe.device import pace
from loaderdoctor.probe.device.backend import NoTimingError
from loaderdoctor.probe.device.clock import DeviceClock
from loaderdoctor.probe.device.copies import Copy
from loaderdoctor.probe.device.hearing import hearing
from loaderdoctor.probe.layout import METHOD_EVENTS, METHOD_GAP, METHOD_WITNESS, NEXT_BATCH

MS, US = 1e-3, 1e-6


@pytest.fixture(autouse=True)
def every_step_is_measured(monkeypatch):
    monkeypatch.setattr(pace, "COST_NS", 0)


class Script:
    """A training script that does what its text says, one letter a piece; each takes 10 ms unless said otherwise.

    n next()     w next() that takes 50 us     k a kernel of 10 ms       h host work
    o optimizer  c a copy to the device        i the host reads a value  s the host waits until the device is done
    """

    def __init__(self, backend=None):
        self.backend = backend or SimBackend()
        self.device, self.recorder = self.backend.device, Recorder()
        self.clock = DeviceClock(self.recorder, lambda: self.backend, self.backend.now_ns)
        self.ordinal = 0

    def play(self, text):
        for letter in text:
            getattr(self, letter)()
        return self

    def end(self):
        self.device.synchronize()
        self.clock.finished()
        return self

    def n(self, sleep_s=10 * MS):
        self.clock.requested(1)
        self.device.clock.sleep(sleep_s)
        self.clock.got(1, self.ordinal, NEXT_BATCH)
        self.ordinal += 1

    def w(self):
        self.n(50 * US)

    def k(self):
        self.device.launch(10 * MS)

    def h(self):
        self.device.clock.sleep(10 * MS)

    def o(self):
        self.clock.stepped()

    def c(self, nbytes=1000, *, before_s=0.0, after_s=0.0, pinned=True):
        """A copy whose call works on the host before it enqueues anything, and after it."""
        lane = self.clock.copying(0) if hearing.clock is self.clock else None
        began_ns = self.backend.now_ns()
        self.device.clock.sleep(before_s)
        self.device.h2d(nbytes, pinned=pinned, non_blocking=True)
        self.device.clock.sleep(after_s)
        if lane is not None:
            host_ns = self.backend.now_ns() - began_ns
            self.clock.copied(lane, Copy(nbytes, pinned=pinned, blocking=False, converted=False, host_ns=host_ns))

    def i(self):
        began_ns = self.backend.now_ns()
        self.device.d2h(8)
        self.clock.synced(self.backend.now_ns() - began_ns)

    def s(self):
        self.device.synchronize()

    def waits_ms(self):
        return [round(row["wait_ns"] / 1e6) for row in self.steps]

    @property
    def steps(self):
        return self.recorder.rows_of("device_step")


@pytest.mark.parametrize(
    ("text", "waits_ms", "drained"),
    [
        ("nknknk", [10, 0, 0], [1, 0, 0]),  # the queue holds 10 ms of work at each later request
        ("nkinkink", [10, 10, 10], [1, 1, 1]),  # reading a value each step exposes every wait
        ("nkkknnn", [10, 0, 0, 0], [1, 0, 0, 0]),  # 30 ms of work hide three waits
        ("nhnhnh", [10, 10, 10], [1, 1, 1]),  # host work is no wait, but leaves the device idle
        ("nkhwkh", [10, 0], [1, 1]),  # drained, and the batch was there
    ],
)
def test_waits_that_the_device_feels(text, waits_ms, drained):
    script = Script().play(text).end()
    assert script.waits_ms() == waits_ms
    assert [row["drained"] for row in script.steps] == drained


def test_a_step_lasts_to_the_next_request_and_the_last_one_is_open():
    script = Script().play("nkinkink").end()
    steps_ms = [round(row["step_ns"] / 1e6) if row["step_ns"] >= 0 else None for row in script.steps]
    assert steps_ms == [20, 20, None]


def test_host_waits_are_counted_in_their_step():
    script = Script().play("nkinkiink").end()
    assert [(row["syncs"], round(row["sync_ns"] / 1e6)) for row in script.steps] == [(1, 10), (2, 10), (0, 0)]


def test_copies_are_counted_by_step_and_their_time_on_the_device():
    script = Script().play("nccknkkc").end()
    copies = script.recorder.rows_of("copy")
    assert [(row["ordinal"], row["copies"], row["bytes"], row["pinned_copies"]) for row in copies] == [
        (0, 2, 2000, 2),
        (1, 1, 1000, 1),
    ]
    assert all(8_000 <= row["device_ns"] <= 60_000 for row in copies)


PINNED_1_MS, PAGEABLE_1_MS = 24 * 10**6, 6 * 10**6  # bytes


@pytest.mark.parametrize(
    ("before", "copy", "copy_ms"),
    [
        ("n", {"nbytes": PINNED_1_MS}, 1.0),
        ("n", {"nbytes": 1000, "before_s": 5 * MS}, 0.0),  # the host was held up; the device had nothing to copy
        ("n", {"nbytes": 1000, "after_s": 5 * MS}, 0.0),
        ("n", {"nbytes": 4 * PINNED_1_MS, "after_s": 1 * MS}, 3.0),  # hidden behind the host in part
        ("n", {"nbytes": PAGEABLE_1_MS, "pinned": False}, 1.0),  # the host waits for all of it
        ("kkkn", {"nbytes": PINNED_1_MS, "before_s": 5 * MS, "after_s": 5 * MS}, 1.0),  # behind work that goes on
        ("kkkn", {"nbytes": PAGEABLE_1_MS, "pinned": False}, 1.0),
    ],
)
def test_an_exposed_copy_is_as_long_as_the_device_or_the_host_waits_for_it(before, copy, copy_ms):
    script = Script().play("n" + before)
    script.c(**copy)
    script.play("kn").end()
    assert script.steps[1]["copy_ns"] / 1e6 == pytest.approx(copy_ms, abs=0.05)


def test_copies_inside_next_are_always_heard(monkeypatch):
    monkeypatch.setattr(pace, "HEARD_FIRST", 1)
    script = Script()
    for _ in range(20):
        script.clock.requested(1)
        script.c(PINNED_1_MS)
        script.play("s")
        script.clock.got(1, script.ordinal, NEXT_BATCH)
        script.ordinal += 1
        script.play("k")
    script.end()
    assert [row["copy_ns"] >= 1_000_000 for row in script.steps] == [True] * 20
    assert max(row["wait_ns"] for row in script.steps) < 100_000


def test_a_long_run_is_not_heard_in_every_step():
    script = Script().play("nckik" * 200).end()
    heard = [row for row in script.steps if row["copy_ns"] >= 0]
    assert 32 + 40 <= len(heard) <= 32 + 44
    assert {row["syncs"] for row in script.steps} == {1, -1}
    assert [row["syncs"] == 1 for row in script.steps] == [row["copy_ns"] >= 0 for row in script.steps]


def test_a_copy_on_a_side_stream_is_exposed_only_where_the_compute_stream_waits_for_it():
    script = Script()
    side = script.device.new_stream()
    for _ in range(3):
        script.play("n")
        script.device.current_stream = side
        script.c(24 * 10**7)  # 10 ms
        script.device.current_stream = script.device.default_stream
        script.play("k")  # hides it
        lane = script.clock.hold(script.device.default_stream)
        script.device.default_stream.wait_stream(side)
        script.clock.released(lane)
        script.play("s")
    script.end()
    copies = script.recorder.rows_of("copy")
    assert [row["side_stream"] for row in copies] == [1, 1, 1]
    assert all(row["device_ns"] == pytest.approx(10e6, rel=0.01) for row in copies)
    assert all(row["copy_ns"] < 50_000 for row in script.steps)


def test_a_loader_read_inside_next_is_part_of_that_next():
    script = Script()
    script.clock.requested(1)
    script.clock.requested(2)
    script.device.clock.sleep(10 * MS)
    script.clock.got(2, 0, NEXT_BATCH)
    script.clock.got(1, 0, NEXT_BATCH)
    script.end()
    assert [(row["iterator"], round(row["wait_ns"] / 1e6)) for row in script.steps] == [(1, 10)]


def test_nothing_is_recorded_while_a_graph_is_captured():
    backend = SimBackend()
    script = Script(backend).play("nk")
    backend.is_capturing = True
    script.play("nkc")
    backend.is_capturing = False
    script.play("nk").end()
    assert [row["ordinal"] for row in script.steps] == [2]


def test_a_device_that_is_not_in_use_is_left_alone():
    backend = SimBackend()
    backend.started = False
    backend.stream = backend.event = backend.index = None  # calling any would raise, and be noted
    script = Script(backend)
    script.play("nhnoh")
    script.clock.finished()
    assert script.recorder.rows == []
    assert script.recorder.notes == []


def test_batches_taken_in_a_thread_of_its_own_give_an_upper_bound_from_the_training_thread():
    script = Script()
    with ThreadPoolExecutor(1) as fetcher:
        for _ in range(4):
            fetcher.submit(script.n).result()
            script.play("ckois")
    script.end()
    gaps = [row for row in script.steps if row["method"] == METHOD_GAP]
    assert [row for row in script.steps if row["method"] == METHOD_EVENTS and row["ordinal"] > 0] == []
    assert [round(row["wait_ns"] / 1e6) for row in gaps] == [10, 10, 10]
    assert all(row["wait_low_ns"] == 0 and row["wait_high_ns"] == row["wait_ns"] for row in gaps)
    assert [slug for slug, _ in script.recorder.notes] == ["device-clock-background"]


def test_steps_of_a_thread_that_is_gone_are_written_too():
    script = Script()
    with ThreadPoolExecutor(1) as trainer:
        trainer.submit(script.play, "nckoinckoinckoinc").result()
    script.end()
    assert script.waits_ms() == [10, 10, 10], "the first was asked for before the thread was seen to train"


def test_a_next_whose_end_was_lost_costs_its_own_step_alone():
    """An exception of a signal's handler can strike anywhere."""
    script = Script()
    script.play("nkcikn")
    script.clock.requested(2)  # and nothing comes of it
    for _ in range(4):
        script.clock.requested(1, outermost=True)
        script.clock.got(1, script.ordinal, NEXT_BATCH)
        script.ordinal += 1
        script.play("ki")
    script.end()
    assert [row["ordinal"] for row in script.steps][-3:] == [3, 4, 5]


def test_a_thread_that_has_not_trained_asks_the_driver_nothing():
    """Another one may be capturing a graph, which any call would end with an error."""
    backend = SimBackend()
    backend.is_capturing = True  # its own assertions tell of a point that is recorded or asked for
    backend.capturing = lambda: False  # of this thread's stream
    script = Script(backend)
    with ThreadPoolExecutor(1) as fetcher:
        for _ in range(5):
            fetcher.submit(script.n).result()
    script.end()
    assert script.recorder.notes == []
    assert script.steps == []


def test_a_graph_captured_in_the_thread_that_trains_is_left_alone():
    backend = SimBackend()
    script = Script(backend)
    with ThreadPoolExecutor(1) as fetcher:
        for capturing in (False, False, True, False, False):
            fetcher.submit(script.n).result()
            backend.is_capturing = capturing
            script.play("c")
            backend.is_capturing = False
            script.play("kois")
    script.end()
    assert script.recorder.notes[1:] == []
    assert [row["ordinal"] for row in script.steps if row["method"] == METHOD_GAP] == [1, 3, 4]


def test_a_device_that_cannot_tell_is_seen_from_the_thread_that_trains():
    backend = SimBackend(timed=False)
    backend.started = False
    script = Script(backend)
    with ThreadPoolExecutor(1) as fetcher:
        for _ in range(6):
            fetcher.submit(script.n).result()
            script.play("cko")
    script.end()
    assert backend.started
    assert len(script.steps) >= 3


def test_a_wait_for_another_stream_is_a_copys_only_once():
    script = Script()
    side = script.device.new_stream()

    def hold(stream):
        lane = script.clock.hold(script.device.default_stream) if hearing.clock is script.clock else None
        script.device.default_stream.wait_stream(stream)
        if lane is not None:
            script.clock.released(lane)

    communication = script.device.new_stream()
    for _ in range(100):
        script.play("n")
        script.device.current_stream = side
        script.c()
        script.device.current_stream = script.device.default_stream
        hold(side)
        script.device.launch(5 * MS, stream=communication)
        hold(communication)
        script.play("ks")
    script.end()
    heard = [row["copy_ns"] for row in script.steps if row["copy_ns"] >= 0]
    assert len(heard) > 32
    assert max(heard) < 100_000


def test_events_without_time_stamps_are_found_out_and_replaced_by_witnesses():
    backend = SimBackend()

    def elapsed_ns(_start, _end):
        raise NoTimingError("Backend doesn't support elapsedTime")

    backend.elapsed_ns = elapsed_ns
    script = Script(backend).play("nkoi" * 12).end()
    assert [slug for slug, _ in script.recorder.notes] == ["device-clock-no-timing"]
    assert {row["method"] for row in script.steps} == {METHOD_WITNESS}
    assert len(script.steps) > 1


def test_a_fault_of_the_device_ends_the_clock_and_not_the_script():
    backend = SimBackend()

    def record(_event, _stream):
        raise RuntimeError("lost")

    backend.record = record
    script = Script(backend).play("nkcnkionkc").end()
    assert [slug for slug, _ in script.recorder.notes] == ["device-clock-failed"]
    assert not script.clock.armed
