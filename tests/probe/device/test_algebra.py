"""What the clock writes is what is true on a simulated device, in a thousand training loops drawn at random."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
from device_backends import SimBackend
from probe_recorder import Recorder
from simaccel.truth import NEXT, Truth

from loaderdoctor.probe.device.clock import DeviceClock
from loaderdoctor.probe.device.copies import Copy
from loaderdoctor.probe.device.hearing import hearing
from loaderdoctor.probe.layout import METHOD_EVENTS, METHOD_WITNESS, NEXT_BATCH, NEXT_END

MS, US = 1e-3, 1e-6
STEPS = 25
SEEDS = range(1200)
WITHIN_NS = 3_000
ROUNDING_NS = 50  # of float32 milliseconds
COPY_NS = 15_000  # from the request of a copy to its start, on an empty queue: part of the copy, not of the wait


@dataclass(frozen=True)
class Scenario:
    """A training loop.

    loop: inline (copies on the compute stream), side (on their own), ahead (fetched and copied one ahead),
    shard (copied, then the next one fetched), inside (copied inside next()).
    """

    loop: str
    load_s: float
    jitter: float
    sync_every: int
    pinned: bool
    non_blocking: bool
    parts: int
    kernels: int
    kernel_s: float
    nbytes: int
    host_gap_s: float

    @property
    def within_ns(self):
        return WITHIN_NS + (COPY_NS * self.parts if self.loop == "inside" else 0)

    @classmethod
    def draw(cls, seed):
        rng = random.Random(seed)
        return cls(
            loop=rng.choice(["inline", "side", "ahead", "shard", "inside"]),
            load_s=rng.choice([0, 2 * MS, 10 * MS, 40 * MS]),
            jitter=rng.choice([0, 0.5]),
            sync_every=rng.choice([0, 0, 1, 5]),
            pinned=rng.random() < 0.5,
            non_blocking=rng.random() < 0.5,
            parts=rng.choice([1, 2, 5]),
            kernels=rng.randint(5, 40),
            kernel_s=rng.choice([5 * US, 20 * US, 100 * US, 400 * US]),
            nbytes=rng.choice([10**5, 10**7, 10**8]),
            host_gap_s=rng.choice([0, 0, 3 * MS]),
        )


class Loop:
    """Plays a scenario, telling the clock what the hooks would."""

    def __init__(self, scenario, seed, *, timed=True, drained=True):
        self.scenario, self.rng = scenario, random.Random(seed)
        self.backend = SimBackend(timed=timed)
        self.device, self.recorder = self.backend.device, Recorder()
        self.side = self.device.new_stream()
        self.clock = DeviceClock(self.recorder, lambda: self.backend, self.backend.now_ns)
        self.ordinal = 0
        getattr(self, f"play_{scenario.loop}")()
        self.fetch(status=NEXT_END)
        self.stops_s = self.device.clock.now()
        if drained:
            self.device.synchronize()
        self.clock.finished()
        self.steps = {row["ordinal"]: row for row in self.recorder.rows_of("device_step")}
        self.truth = Truth.of(self.device)
        self.waits = [(mark.start, mark.end) for mark in self.truth.marks]

    def fetch(self, status=NEXT_BATCH):
        self.clock.requested(7)
        with self.device.marking(NEXT):
            spread = self.scenario.jitter * self.rng.uniform(-1, 1)
            self.device.clock.sleep(self.scenario.load_s * (1 + spread) if status == NEXT_BATCH else 0)
            if self.scenario.loop == "inside":
                self.copy()
                self.device.clock.sleep(self.scenario.load_s / 4)
        self.clock.got(7, self.ordinal, status)
        self.ordinal += 1

    def copy(self):
        s = self.scenario
        for _ in range(s.parts):
            lane = self.clock.copying(None) if hearing.clock is self.clock else None
            began_ns = self.backend.now_ns()
            self.device.h2d(s.nbytes // s.parts, pinned=s.pinned, non_blocking=s.non_blocking)
            host_ns = self.backend.now_ns() - began_ns
            if lane is not None:
                self.clock.copied(lane, Copy(s.nbytes // s.parts, s.pinned, not s.non_blocking, False, host_ns))

    def copy_aside(self, *, wait):
        self.device.current_stream = self.side
        self.copy()
        self.device.current_stream = self.device.default_stream
        if wait:
            self.wait_for_copy()

    def wait_for_copy(self):
        lane = self.clock.hold(self.device.default_stream)
        self.device.default_stream.wait_stream(self.side)
        if lane is not None:
            self.clock.released(lane)

    def step(self, index):
        s = self.scenario
        self.device.clock.sleep(s.host_gap_s)
        for _ in range(s.kernels):
            self.device.launch(s.kernel_s)
        self.clock.stepped()
        if s.sync_every and (index + 1) % s.sync_every == 0:
            self.device.d2h(4)

    def play_inline(self):
        for index in range(STEPS):
            self.fetch()
            self.copy()
            self.step(index)

    def play_side(self):
        for index in range(STEPS):
            self.fetch()
            self.copy_aside(wait=True)
            self.step(index)

    def play_ahead(self):
        self.fetch()
        self.copy_aside(wait=True)
        for index in range(STEPS):
            self.fetch()
            self.copy_aside(wait=False)
            self.step(index)
            self.wait_for_copy()

    def play_shard(self):
        self.fetch()
        for index in range(STEPS):
            self.copy()
            self.fetch()
            self.step(index)

    def play_inside(self):
        for index in range(STEPS):
            self.fetch()
            self.step(index)


@pytest.mark.parametrize("block", range(12))
def test_the_wait_is_the_time_with_an_empty_queue(block):
    for seed in SEEDS[block::12]:
        scenario = Scenario.draw(seed)
        loop = Loop(scenario, seed)
        truth = [round(row["queue_empty"] * 1e9) for row in loop.truth.of_marks()]
        assert loop.steps, scenario
        for ordinal, row in loop.steps.items():
            assert row["method"] == METHOD_EVENTS
            assert abs(row["wait_ns"] - truth[ordinal]) <= scenario.within_ns, (seed, scenario, ordinal)
            assert row["wait_low_ns"] <= row["wait_ns"] <= row["wait_high_ns"]
            assert row["step_ns"] == -1 or row["wait_ns"] + row["copy_ns"] <= row["step_ns"] + ROUNDING_NS


def fully_measured(seeds):
    """Loops with copies on the compute stream whose steps are long enough to be measured one and all."""
    for seed in seeds:
        scenario = Scenario.draw(seed)
        if scenario.loop in ("inline", "shard", "inside"):
            loop = Loop(scenario, seed)
            if len(loop.steps) == len(loop.waits):
                yield scenario, loop


def test_wait_and_copies_on_the_compute_stream_are_what_the_device_lacks_data_for():
    loops = list(fully_measured(range(150)))
    assert len(loops) > 20
    for scenario, loop in loops:
        told_s = sum(row["wait_ns"] + row["copy_ns"] for row in loop.steps.values()) / 1e9
        end_s = max(loop.truth.span[1], loop.waits[-1][1])
        truth_s = loop.truth.starved(loop.waits, loop.waits[0][0], end_s)
        assert told_s == pytest.approx(truth_s, abs=STEPS * scenario.parts * 30 * US), scenario


@pytest.mark.parametrize("seed", range(100))
def test_steps_that_the_device_has_not_passed_at_the_end_are_proven_fed(seed):
    scenario = Scenario.draw(seed)
    loop = Loop(scenario, seed, drained=False)
    truth = [round(row["queue_empty"] * 1e9) for row in loop.truth.of_marks()]
    for ordinal, row in loop.steps.items():
        assert abs(row["wait_ns"] - truth[ordinal]) <= scenario.within_ns, (scenario, ordinal)
        assert row["method"] == METHOD_EVENTS or row["step_ns"] == -1


@pytest.mark.parametrize("seed", range(200))
def test_a_witness_without_time_stamps_never_says_what_is_false(seed):
    scenario = Scenario.draw(seed)
    if scenario.loop in ("inside", "shard", "ahead"):
        scenario = Scenario(**{**vars(scenario), "loop": "inline"})
    loop = Loop(scenario, seed, timed=False)
    truth = [round(row["queue_empty"] * 1e9) for row in loop.truth.of_marks()]
    assert loop.steps
    for ordinal, row in loop.steps.items():
        assert row["method"] == METHOD_WITNESS
        assert row["wait_low_ns"] - WITHIN_NS <= truth[ordinal] <= row["wait_high_ns"] + WITHIN_NS, (scenario, ordinal)
