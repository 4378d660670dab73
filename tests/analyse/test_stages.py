"""What the probe's stage, stack, copy and pin records become."""

import json
from dataclasses import replace

import builders
import pytest

from loaderdoctor.analyse import signals_of
from loaderdoctor.values import Measured

SECOND = 10**9
START_NS = 10**12
TRAINING_FILE = "/home/user/train.py"


def with_rows(drawing, rows, **options):
    """The drawn run; `rows` are (kind, fields) of its last process, a field `*_text` given as text."""
    run = builders.run_from(drawing, **options)
    *others, last = run.processes
    records = builders.Records(last.pid, last.header["role"], last.header["opened_ns"])
    records.texts = dict(last.texts)
    for kind, fields in rows:
        records.put(
            kind, **{name: records.text(text) if name.endswith("_text") else text for name, text in fields.items()}
        )
    added = records.done()
    tables = {**last.tables, **added.tables}
    return replace(run, processes=(*others, replace(last, tables=tables, texts=added.texts)))


def stage(name, at_s, self_ms, cpu_ms, worker=-1):
    fields = {"self_ns": self_ms * 10**6, "self_cpu_ns": cpu_ms * 10**6, "total_ns": self_ms * 10**6, "calls": 1}
    return "stage", {"worker": worker, "name_text": name, "at_ns": START_NS + round(at_s * SECOND), **fields}


@pytest.mark.parametrize("num_workers", [0, 1])
def test_stages_are_per_batch_and_what_no_stage_has_is_the_samples_own(num_workers):
    rows = [
        stage("read:open", 1.0, 100, 20),
        stage("decode:ImageFile.load", 1.0, 300, 300),
        stage("decode:imdecode", 1.0, 100, 100),
        stage("read:open", 2.0, 100, 20),
        stage("decode:ImageFile.load", 2.0, 400, 400),
    ]
    loader = signals_of(with_rows("[" + "wwwwc" * 40, rows, num_workers=num_workers)).main
    seconds = {found.name: found.seconds_per_batch.value for found in loader.stages}
    assert seconds == pytest.approx({"sample": 0.04 - 0.005 - 0.02, "read": 0.005, "decode": 0.02})
    assert {found.name: found.cpu_share.value for found in loader.stages if isinstance(found.cpu_share, Measured)} == (
        pytest.approx({"read": 0.2, "decode": 1.0})
    )
    assert {found.where for found in loader.stages} == {"worker" if num_workers else "main"}


def test_a_stage_of_one_second_counts_over_the_batches_of_all():
    rows = [stage("decode:load", 1.0, 200, 200), stage("read:open", 2.0, 20, 20)]
    loader = signals_of(with_rows("[" + "wwwwc" * 40, rows)).main
    assert {found.name: found.seconds_per_batch.value for found in loader.stages}["decode"] == pytest.approx(0.2 / 40)


def stack(frames, cpu_ms, samples=10):
    fields = {"cpu_ns": cpu_ms * 10**6, "samples": samples, "blocked_ns": 0}
    return "stack", {"worker": 0, "at_ns": START_NS + SECOND, "stack_text": json.dumps(frames), **fields}


DECODE = [["load", "/lib/PIL/ImageFile.py", 40], ["Photos.__getitem__", TRAINING_FILE, 20]]


@pytest.mark.parametrize(
    ("stacks", "expected", "why"),
    [
        (
            [stack(DECODE, 60), stack(DECODE[1:], 20)],
            [("load", 40, 0.75), ("Photos.__getitem__", 20, 0.25)],
            "hottest first",
        ),
        (
            [stack([["f", TRAINING_FILE, 3]], 10), stack([["f", TRAINING_FILE, 4]], 30)],
            [("f", 4, 1.0)],
            "one function, its hottest line",
        ),
        (
            [
                stack(DECODE, 60),
                stack([["select", "/lib/selectors.py", 1], ["get", "/lib/multiprocessing/queues.py", 9]], 60),
            ],
            [("load", 40, 1.0)],
            "waiting for the next index is no work on a batch",
        ),
        (
            [stack(DECODE, 60), stack([["put", "/site/loaderdoctor/probe/writer.py", 9], *DECODE], 60)],
            [("load", 40, 1.0)],
            "nor is what the probe does",
        ),
        ([stack(DECODE, 0)], [], "no CPU time at all"),
        ([("stack", {"worker": 0, "at_ns": START_NS, "stack_text": "", "cpu_ns": 5, "samples": 1})], [], "no stack"),
    ],
)
def test_hot_functions(stacks, expected, why):
    loader = signals_of(with_rows("[" + "wwwwc" * 40, stacks, num_workers=1)).main
    found = [(hot.function, hot.line, hot.share.value) for hot in loader.hot_functions]
    assert found == expected, why
    assert all(hot.share.low <= hot.share.value <= hot.share.high for hot in loader.hot_functions)


def test_copies_after_warm_up_are_told_per_step():
    copy = {"iterator": 1, "device": 0, "copies": 2, "bytes": 4000, "converted_copies": 0, "side_stream": 0}
    rows = [
        (
            "copy",
            {
                **copy,
                "ordinal": ordinal,
                "pinned_copies": 1,
                "pinned_bytes": 1000,
                "blocking_copies": 1,
                "device_ns": 2000,
                "host_ns": 0,
            },
        )
        for ordinal in range(40)
    ]
    device = signals_of(with_rows("[" + "wwwwc" * 40, rows)).device
    assert device.kind == "accelerator"
    assert [
        device.copy_bytes_per_step.value,
        device.pinned_share.value,
        device.blocking_share.value,
        device.copy_bandwidth.value,
    ] == pytest.approx([4000, 0.25, 0.5, 2e9])
    assert device.copy_bytes_per_step.n == 36


def test_the_pin_thread_is_busy_for_what_it_copies():
    rows = [
        (
            "pin",
            {
                "iterator": 1,
                "batch": batch,
                "begin_ns": START_NS + batch * 50 * 10**6,
                "end_ns": START_NS + batch * 50 * 10**6 + 10**7,
                "cpu_ns": 9 * 10**6,
                "tensors": 2,
                "bytes": 5000,
            },
        )
        for batch in range(40)
    ]
    signals = signals_of(with_rows("[" + "wwwwc" * 40, rows, settings={"pin_memory": True}))
    assert signals.device.pin_busy_share.value == pytest.approx(0.2, abs=0.02)
    assert (signals.main.batch_bytes.value, signals.main.tensors_per_batch.value) == (5000, 2)
    pin = signals.main.stages[-1]
    assert (pin.name, pin.seconds_per_batch.value, pin.cpu_share.value) == (
        "pin",
        pytest.approx(0.01),
        pytest.approx(0.9),
    )
