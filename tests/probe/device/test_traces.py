"""On nine recordings of real GPUs, the clock's share is that of the recorded queue."""

from __future__ import annotations

import json

import pytest
from device_backends import TraceBackend
from probe_recorder import Recorder
from traces import read, truth

from loaderdoctor.probe.device.clock import DeviceClock
from loaderdoctor.probe.layout import NEXT_BATCH

POINT = 0.01
STORED = json.loads(truth.TRUTH.read_text())["traces"]


def replay(trace):
    """The device_step records of a clock that was there."""
    backend, recorder = TraceBackend(truth.compute_queue(trace)), Recorder()
    clock = DeviceClock(recorder, lambda: backend, backend.now_ns)
    for ordinal, span in enumerate(trace.nexts):
        backend.host_ns = span.start_ns
        clock.requested(1)
        backend.host_ns = span.end_ns
        clock.got(1, ordinal, NEXT_BATCH)
    backend.host_ns = trace.end_ns + backend.latency_ns
    clock.finished()
    return recorder.rows_of("device_step")


@pytest.mark.parametrize("name", read.names())
def test_the_share_is_within_a_point_of_the_truth(name):
    trace = read.load(name)
    rows = replay(trace)
    for window, chosen in (("whole", rows), ("steady", rows[1:-1])):
        stored = STORED[name][window]
        share = sum(row["wait_ns"] * row["every"] for row in chosen) / stored["window_ns"]
        assert share == pytest.approx(stored["starved_share"], abs=POINT)
        assert share == pytest.approx(stored["device_idle_in_next_share"], abs=POINT)
