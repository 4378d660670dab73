"""The what-if table: which rows it has, and what a replay takes from the rest of the signals."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import device, exact, loader, machine, signals, workload
from schedules import constant

from loaderdoctor.analyse.signals import LoaderSettings
from loaderdoctor.predict import elsewhere_s, fewest_workers, memory_bytes, what_if, workload_of
from loaderdoctor.predict.table import FAR, PAST_KNEE


def rows_of(settings, **more):
    """The rows of one setting, of a prescription, and of what is chosen, without the last ones."""
    run = signals(loaders=(loader(settings=settings),))
    prescribed = [change for _, change in more.get("prescriptions", ())]
    return [dict(row.settings) for row in what_if(run, **more) if len(row.settings) == 1 or row.settings in prescribed]


def counts(workers):
    last = fewest_workers(workload(settings=LoaderSettings(num_workers=workers))) + PAST_KNEE
    return [count for count in (*range(last + 1), FAR * last) if count != workers]


def test_without_workers_there_is_no_prefetching_to_change():
    rows = rows_of(LoaderSettings(num_workers=0))
    assert [row["num_workers"] for row in rows if "num_workers" in row] == counts(0)
    assert [row for row in rows if "num_workers" not in row] == [{"pin_memory": True}]


def test_with_workers_each_setting_is_changed_alone():
    rows = rows_of(LoaderSettings(num_workers=2, prefetch_factor=4, pin_memory=True, persistent_workers=True))
    assert [row["num_workers"] for row in rows if "num_workers" in row] == counts(2)
    assert [row for row in rows if "num_workers" not in row] == [
        {"prefetch_factor": 1},
        {"prefetch_factor": 2},
        {"prefetch_factor": 8},
        {"pin_memory": False},
        {"persistent_workers": False},
    ]


def test_the_prescription_has_a_row_and_not_two():
    settings = LoaderSettings(num_workers=0)
    both = {"num_workers": 3, "persistent_workers": True}
    assert rows_of(settings, prescriptions=[("train.py:42", both)]).count(both) == 1
    assert rows_of(settings, prescriptions=[("train.py:42", {"num_workers": 3})]) == rows_of(settings)


def chosen(free_bytes=None, **recorded):
    run = signals(
        loaders=(loader(workload=constant(**recorded)),),
        machine=machine(memory_available_bytes=exact(free_bytes), shm_free_bytes=exact(free_bytes))
        if free_bytes
        else machine(),
    )
    return {name: dict(row.settings) for row in what_if(run) for name in row.choice}


MB = 1 << 20
WAITS = {"blocked_s": 0.06, "compute_s": 0.01, "wait_s": 0.06, "batches": 200, "cores": 2.0, "batch_bytes": MB}


def test_the_best_is_no_slower_than_any_row_and_the_leanest_takes_no_more_memory():
    run = signals(loaders=(loader(workload=constant(**WAITS)),))
    rows = what_if(run)
    best, leanest = (next(row for row in rows if name in row.choice) for name in ("best", "leanest"))
    assert best.speedup.best == pytest.approx(max(row.speedup.best for row in rows), rel=0.01)
    assert leanest.speedup.best >= best.speedup.best / 1.03
    near = [row for row in rows if row.speedup.best >= best.speedup.best / 1.01]
    assert leanest.memory_bytes == min(row.memory_bytes for row in near)


def test_what_memory_does_not_allow_is_not_chosen():
    free, tight = (chosen(free_bytes, **WAITS)["leanest"] for free_bytes in (10_000 * MB, 800 * MB))
    assert tight["num_workers"] < free["num_workers"]
    assert memory_bytes(constant(**WAITS), tight) <= 800 * MB


def test_what_cannot_be_bettered_has_no_choice():
    assert chosen(**{**WAITS, "blocked_s": 0.001, "wait_s": 0.0, "workers": 1, "prefetch": 1}) == {}


def test_each_loader_has_rows_and_one_without_a_record_has_none():
    rows = what_if(signals(loaders=(loader(), loader(id="train.py:50"), loader(id="train.py:60", workload=None))))
    assert list(dict.fromkeys(row.loader for row in rows)) == ["train.py:42", "train.py:50"]


@pytest.mark.parametrize(
    ("ranks", "busy", "cores", "neighbours"),
    [(1, 0.0, 8.0, 0.0), (4, 0.0, 2.0, 0.0), (1, 0.25, 8.0, 2.0), (2, 0.5, 4.0, 2.0)],
)
def test_a_rank_has_its_part_of_the_cores_and_of_what_others_take(ranks, busy, cores, neighbours):
    run = signals(ranks=ranks, machine=machine(neighbour_allowed_cpu_share=exact(busy)))
    replayed = workload_of(run, run.loaders[0])
    assert (replayed.cores, replayed.neighbour_cores) == (cores, neighbours)


@pytest.mark.parametrize(
    ("pinned", "blocking", "ahead", "host_s"),
    [(1.0, 0.0, None, 0.034), (0.0, 0.0, 1, 0.004), (1.0, 1.0, 1, 0.004)],
)
def test_copies_that_hold_the_host_are_no_work_of_its_own(pinned, blocking, ahead, host_s):
    recorded = replace(workload(), device_s=(0.02,) * 100, host_s=(0.034,) * 100, copy_s=0.01)
    run = signals(
        loaders=(loader(workload=recorded),), device=device(pinned_share=exact(pinned), blocking_share=exact(blocking))
    )
    replayed = workload_of(run, run.loaders[0])
    assert (replayed.run_ahead_steps, replayed.host_s[-1]) == (ahead, pytest.approx(host_s))


def test_time_elsewhere_is_what_the_loader_does_not_account_for():
    run = signals(measured_s=10.0)
    assert elsewhere_s(run, workload()) == pytest.approx(10 - 90 * 0.04)
    assert elsewhere_s(signals(measured_s=1.0), workload()) == 0
