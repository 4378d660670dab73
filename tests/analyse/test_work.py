"""What batches consist of, in the main process and in workers."""

import builders
import numpy as np
import pytest

from loaderdoctor.analyse import signals_of

DRAWING = "[" + "wwwwwc" * 40 + "|" + "wwwwwc" * 10
STEP_S, WAIT_S = 0.06, 0.05


@pytest.mark.parametrize("num_workers", [0, 1, 3])
@pytest.mark.parametrize(
    ("cpu", "run_queue", "bytes_from_disk", "parts"),
    [
        (1.0, 0.0, 0, (1.0, 0.0, 0.0, 0.0)),
        (0.6, 0.4, 0, (0.6, 0.0, 0.0, 0.4)),
        (0.2, 0.0, 0, (0.2, 0.0, 0.8, 0.0)),
        (0.2, 0.1, 1 << 20, (0.2, 0.7, 0.0, 0.1)),
        (0.0, 0.0, 4096, (0.0, 0.408, 0.592, 0.0)),  # a seek and one page are no excuse for 50 ms
    ],
    ids=["cpu", "run queue", "blocked", "disk", "one page"],
)
def test_the_time_of_a_batch_is_split(num_workers, cpu, run_queue, bytes_from_disk, parts):
    run = builders.run_from(
        DRAWING, num_workers=num_workers, cpu_share=cpu, run_queue_share=run_queue, bytes_from_disk=bytes_from_disk
    )
    loader = signals_of(run).main
    shares = [
        loader.fetch_cpu_share,
        loader.fetch_disk_share,
        loader.fetch_blocked_share,
        loader.fetch_run_queue_share,
    ]
    assert [share.value for share in shares] == pytest.approx(parts, abs=0.001)
    assert loader.fetch_s.value == pytest.approx(WAIT_S)
    assert loader.sample_s.value == pytest.approx(WAIT_S / 8)
    batch = loader.workload.batches[20]
    assert batch.cpu_s + batch.disk_s + batch.blocked_s + batch.run_queue_s == pytest.approx(WAIT_S)
    assert [batch.cpu_s / WAIT_S, batch.disk_s / WAIT_S] == pytest.approx(parts[:2], abs=0.001)


@pytest.mark.parametrize(
    ("samples", "batch_size", "told"),
    [
        ([8], 8, 8),
        ([8, 0], 8, 8),  # every other fetch finds the end of an iterable dataset
        ([6, -1], 8, 6),
        ([-1], 8, 8),
        ([-1, 0], None, None),  # the dataset makes the batches
    ],
)
def test_the_samples_of_a_step_are_those_counted_else_those_asked_for(samples, batch_size, told):
    run = builders.run_from(DRAWING, num_workers=0, settings={"batch_size": batch_size})
    counted = run.processes[0].tables["fetch"]["samples"]
    counted[:] = np.resize(samples, len(counted))
    rate = signals_of(run).steps.samples_per_s
    if told is None:
        assert rate.slug == "no-batch-size"
    else:
        assert rate.value == pytest.approx(told / STEP_S)


@pytest.mark.parametrize(
    ("settings", "pids"), [({}, 4), ({"persistent_workers": True}, 2)], ids=["new ones each epoch", "persistent"]
)
def test_workers_are_told_by_index_over_all_epochs(settings, pids):
    run = builders.run_from(DRAWING, num_workers=2, settings=settings)
    assert len(run.processes) == 1 + pids
    loader = signals_of(run).main
    assert [(worker.index, worker.batches) for worker in loader.workers] == [(0, 22), (1, 23)]
    assert all(worker.busy_share.value == 1.0 for worker in loader.workers)
    assert all(worker.start_s.value == pytest.approx(0.001) for worker in loader.workers)
    assert all(worker.rss_bytes.value == 300e6 for worker in loader.workers)


def test_idle_workers_are_not_busy():
    """A worker makes a batch in 50 ms, and two workers have 120 ms for two batches."""
    run = builders.run_from("[" + "wwwwwc" * 40, num_workers=2, idle_s=0.07)
    loader = signals_of(run).main
    assert loader.worker_busy_share.value == pytest.approx(0.05 / 0.12)
    assert loader.workers[0].cpu_share.value == pytest.approx(0.05 / 0.12)


def test_a_workload_says_what_was_measured():
    workload = signals_of(builders.run_from(DRAWING.replace("|", "|gg"), num_workers=2)).main.workload
    assert (len(workload.batches), workload.measured_from) == (50, 5)
    assert workload.waits_s[3] == pytest.approx(WAIT_S)
    assert workload.waits_s[40] == pytest.approx(WAIT_S + 0.02)
    assert workload.compute_s[3] == pytest.approx(STEP_S - WAIT_S)
    assert [batch.epoch for batch in workload.batches] == [0] * 40 + [1] * 10
    assert [batch.ordinal for batch in workload.batches] == [*range(40), *range(10)]
    chosen_s = workload.batches[40].choose_s  # a part of the gap that comes with every batch
    assert workload.epoch_overhead_s == pytest.approx((0.0, 0.02 - chosen_s))
    assert workload.cores == 8
    assert (workload.device_s, workload.host_s, workload.run_ahead_steps) == ((), (), None)


def test_batches_without_a_record_of_their_making_have_no_workload():
    run = builders.run_from(DRAWING, num_workers=2)
    alone = builders.run_of(run.processes[:1], ended_s=10)
    signals = signals_of(alone)
    assert signals.main.workload is None
    assert signals.main.fetch_s.slug == "not-recorded"
    assert signals.starved_share.value == pytest.approx(5 / 6, abs=0.01)


def test_batches_made_and_never_used_count_as_work_and_not_as_steps():
    run = builders.run_from("[" + "wwc" * 40 + "b", num_workers=2, unused=3)
    loader = signals_of(run).main
    assert loader.batches == len(loader.workload.batches) == 40
    assert sum(worker.batches for worker in loader.workers) == 36 + 3
