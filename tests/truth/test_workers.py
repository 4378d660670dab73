"""What is recorded inside workers is what the workers truly did: within 5 %, or 1 ms a batch.

The truth is the workers' own stopwatch (workloads.py).  `python -m pytest tests/truth -s` prints the table.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from loaderdoctor import record

SCRIPT = Path(__file__).with_name("workloads.py")
RELATIVE, ABSOLUTE_S = 0.05, 1e-3
S = 1e-9

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="RUSAGE_THREAD and schedstat are Linux's"),
]


def recorded(situation, folder):
    """The worker's records, and what it noted itself."""
    run = folder / "run"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "loaderdoctor",
            "profile",
            "--no-pdf",
            "-o",
            str(run),
            str(SCRIPT),
            situation,
            str(folder / "truth"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    workers = [p for p in record.read(run).processes if p.header["role"] == 1]
    assert len(workers) == 1
    notes = [json.loads(line) for file in folder.glob("truth.*") for line in file.read_text().splitlines()]
    return workers[0], notes


def truth(notes):
    """(wall, CPU) seconds from the first sample of each batch to the end of its collate, of all batches."""
    wall_s = cpu_s = 0.0
    first = None
    for note in notes:
        if "began" in note:
            first = first or note
        else:
            wall_s += note["batch_ended"] - first["began"]
            cpu_s += note["batch_ended_cpu"] - first["began_cpu"]
            first = None
    return wall_s, cpu_s


def close(told_s, true_s, batches):
    return abs(told_s - true_s) <= max(RELATIVE * true_s, ABSOLUTE_S * batches)


def split(worker):
    """Seconds of all batches: fetch wall, CPU, run queue, disk (as blocks read), blocked."""
    busy, fetch = worker.tables["busy"], worker.tables["fetch"]
    wall_s = (fetch["end_ns"] - fetch["begin_ns"]).sum() * S
    cpu_s = busy["cpu_ns"].sum() * S
    queued_s = np.clip(busy["run_delay_ns"], 0, None).sum() * S
    return {
        "wall": wall_s,
        "cpu": cpu_s,
        "queued": queued_s,
        "blocked": wall_s - cpu_s - queued_s,
        "blocks": int(busy["blocks_in"].sum()),
    }


def say(situation, **columns):
    print(
        f"\n{situation:12}",
        *(f"{name} {value:8.4f}" if isinstance(value, float) else f"{name} {value}" for name, value in columns.items()),
    )


@pytest.mark.parametrize("situation", ["sleep", "cpu", "http", "disk", "threads", "affinity"])
def test_the_time_of_batches_is_split_as_it_was_spent(situation, tmp_path):
    worker, notes = recorded(situation, tmp_path)
    told = split(worker)
    batches = len(worker.tables["fetch"]["batch"])
    true_wall_s, true_cpu_s = truth(notes)
    say(situation, **told, true_wall=true_wall_s, true_cpu=true_cpu_s)
    assert close(told["wall"], true_wall_s, batches)
    assert close(told["cpu"], true_cpu_s, batches)
    assert close(told["blocked"], true_wall_s - true_cpu_s - told["queued"], batches)
    if situation in {"sleep", "http", "threads"}:
        assert told["blocks"] * 512 < 1 << 20, "nothing is read but a library's code that was not in memory"
    if situation == "disk":
        assert told["blocks"] * 512 >= batches * 4 << 20, "the reads came from the page cache"
    if situation == "affinity":
        assert worker.tables["worker_ready"]["affinity"][-1] == 1
    else:
        assert worker.tables["worker_ready"]["affinity"][-1] >= 1


def test_the_slow_sample_is_named(tmp_path):
    worker, notes = recorded("slow_sample", tmp_path)
    fetch = worker.tables["fetch"]
    slowest = int(np.argmax(fetch["slowest_ns"]))
    index = int(fetch["batch"][slowest] * 4 + fetch["slowest_position"][slowest])
    took_s = {note["index"]: note["ended"] - note["began"] for note in notes if "began" in note}
    true_s = took_s[index]
    say("slow_sample", told=float(fetch["slowest_ns"][slowest] * S), true=true_s)
    assert true_s > max(took_s.values()) * 0.9  # one in several is as slow, and which of them by a hair is chance
    assert close(fetch["slowest_ns"][slowest] * S, true_s, 1)


def test_collate_is_timed_by_itself(tmp_path):
    worker, notes = recorded("collate", tmp_path)
    told_s = worker.tables["fetch"]["collate_ns"].sum() * S
    true_s = sum(n["collate"] for n in notes if "collate" in n)
    say("collate", told=float(told_s), true=true_s)
    assert close(told_s, true_s, len(worker.tables["fetch"]["batch"]))


@pytest.mark.parametrize("count", [1, 200])
def test_tensors_and_bytes_of_a_batch_are_counted(count, tmp_path):
    worker, _ = recorded(f"tensors_{count}", tmp_path)
    send = worker.tables["send"]
    say(
        f"tensors_{count}", pickle_ms=float(np.median(send["pickle_ns"]) / 1e6), tensors=int(np.median(send["tensors"]))
    )
    assert set(send["tensors"]) == {count}
    assert set(send["payload_bytes"]) == {4 * 4 * (25_600 // count) * count}
