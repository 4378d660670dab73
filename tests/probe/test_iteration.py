"""What a training over every kind of loader leaves in the records of its process and of its workers."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from probing import main_of, read, run, workers_of

from loaderdoctor.analyse.signals import LoaderSettings
from loaderdoctor.probe.layout import BUILT, NEXT_BATCH, NEXT_END, RESET
from loaderdoctor.probe.state import WEIGHED_EVERY

TRAINS = Path(__file__).parent / "scripts" / "trains.py"
PLAIN, WORKERS, KEPT, TOGETHER, MINE, STREAM = range(1, 7)  # loaders of trains.py in order


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    assert "doctor" not in run(TRAINS, directory).stderr
    return directory


@pytest.fixture(scope="module")
def main(run_dir):
    return main_of(run_dir)


@pytest.fixture(scope="module")
def workers(run_dir):
    return workers_of(run_dir)


def iterators_of(main, loader):
    return {row["iterator"] for row in main.of("iterator") if row["loader"] == loader}


def nexts_of(main, loader):
    return [row for row in main.of("next") if row["iterator"] in iterators_of(main, loader)]


def test_every_file_is_whole_and_tells_what_it_is_of(run_dir):
    for process in read(run_dir):
        assert process.torn_bytes == 0
        assert process.rows[0][0] == "header"
        about = json.loads(process.of("process")[0]["about_text"])
        assert about["torch_threads"] >= 1
        assert about["sharing_strategy"] == "file_descriptor"
    assert [row["why"] for row in main_of(run_dir).of("end")] == [0]


def test_loaders_are_named_by_the_line_that_builds_them(main):
    source = TRAINS.read_text(encoding="utf-8").splitlines()
    for row in main.of("loader"):
        file, _, line = row["site_text"].rpartition(":")
        assert file == str(TRAINS)
        assert "DataLoader(" in source[int(line) - 1] or "Mine(" in source[int(line) - 1]
        assert "super()" not in source[int(line) - 1]
    assert [row["loader"] for row in main.of("loader")] == [PLAIN, WORKERS, KEPT, TOGETHER, MINE, STREAM, STREAM + 1]


@pytest.mark.parametrize(
    ("loader", "settings"),
    [
        (PLAIN, {"num_workers": 0, "batch_size": 4, "dataset_len": 12, "dataset_type": "__main__.Numbers"}),
        (WORKERS, {"num_workers": 2, "prefetch_factor": 2, "persistent_workers": False, "timeout": 0}),
        (
            KEPT,
            {
                "num_workers": 2,
                "persistent_workers": True,
                "collate": "torch.utils.data._utils.collate.default_collate",
            },
        ),
        (TOGETHER, {"batched_fetch": True, "sampler": "torch.utils.data.sampler.SequentialSampler"}),
        (MINE, {"batch_size": 6, "loader_type": "__main__.Mine", "dataset_kind": "map", "batched_fetch": False}),
        (STREAM, {"prefetch_factor": 3, "dataset_kind": "iterable", "dataset_len": None}),
    ],
)
def test_settings_are_the_loaders_own(main, loader, settings):
    (row,) = (row for row in main.of("loader") if row["loader"] == loader)
    told = json.loads(row["settings_text"])
    assert {name: told[name] for name in settings} == settings
    told.pop("dataset_files")  # for the parent, which keeps their text
    LoaderSettings(**told)  # the names are those that the analysis knows


@pytest.mark.parametrize(
    ("loader", "hows", "epochs"),
    [
        (PLAIN, [BUILT, BUILT], [0, 1]),
        (WORKERS, [BUILT, BUILT], [0, 1]),
        (KEPT, [BUILT, RESET], [0, 1]),
        (STREAM, [BUILT], [0]),
    ],
)
def test_each_epoch_is_an_iterator_or_a_reset(main, loader, hows, epochs):
    rows = [row for row in main.of("iterator") if row["loader"] == loader]
    assert [row["how"] for row in rows] == hows
    assert [row["epoch"] for row in rows] == epochs
    assert all(row["begin_ns"] < row["end_ns"] for row in rows)
    assert [row["grad_enabled"] for row in rows] == [0 if loader == STREAM else 1] * len(rows)
    assert len({row["iterator"] for row in rows}) == len(hows) - hows.count(RESET)


@pytest.mark.parametrize(("loader", "batches"), [(PLAIN, [0, 1, 2]), (WORKERS, [0, 1, 2]), (KEPT, [0, 1, 2])])
def test_each_batch_is_asked_for_once_and_the_end_is_too(main, loader, batches):
    rows = nexts_of(main, loader)
    assert [row["status"] for row in rows] == ([NEXT_BATCH] * len(batches) + [NEXT_END]) * 2
    if loader == WORKERS:
        assert [row["batch"] for row in rows if row["status"] == NEXT_BATCH] == batches * 2
        assert [row["worker"] for row in rows if row["status"] == NEXT_BATCH] == [0, 1, 0] * 2
    assert all(row["main_cpu_ns"] >= 0 for row in rows)
    assert all(row["end_ns"] > row["begin_ns"] for row in rows)
    assert all(early["end_ns"] <= late["begin_ns"] for early, late in pairwise(rows))


def test_ordinals_number_the_requests_of_an_iterator(main):
    for iterator in {row["iterator"] for row in main.of("next")}:
        ordinals = [row["ordinal"] for row in main.of("next") if row["iterator"] == iterator]
        assert ordinals == list(range(len(ordinals)))


def test_queues_are_told_of_only_where_there_are_any(main):
    for loader, has_queue in ((PLAIN, False), (WORKERS, True)):
        for row in nexts_of(main, loader):
            for field in ("ready", "stash", "outstanding"):
                assert (row[field] >= 0) is has_queue


def test_the_inner_loader_of_a_loop_is_not_inside_the_outer_next(main):
    assert {row["depth"] for row in main.of("next")} == {0}


def test_every_training_step_is_seen(main):
    assert len(main.of("optimizer_step")) == 2 * 4 * 3


def test_arrivals_say_who_made_what_and_when_it_was_there(main):
    rows = [row for row in main.of("arrival") if row["iterator"] in iterators_of(main, WORKERS)]
    assert Counter(row["batch"] for row in rows) == {0: 2, 1: 2, 2: 2}
    for row in rows:
        assert row["worker"] == row["batch"] % 2
        assert row["begin_ns"] <= row["received_ns"] <= row["end_ns"]
        assert row["message_bytes"] > 0


def test_workers_are_known_by_their_pid(main, workers):
    started = {row["pid"]: row for row in main.of("worker_started")}
    assert {worker.of("header")[0]["pid"] for worker in workers} == set(started)
    for worker in workers:
        (ready,) = worker.of("worker_ready")
        start = started[ready["pid"]]
        assert ready["worker"] == start["worker"] == worker.of("header")[0]["worker"]
        assert start["begin_ns"] < ready["born_ns"] < ready["ready_ns"]
        assert ready["torch_threads"] == 1
        assert ready["affinity"] >= 1


def test_a_worker_accounts_for_all_its_batches(workers):
    for worker in workers:
        made = [row["batch"] for row in worker.of("fetch")]
        assert [row["batch"] for row in worker.of("busy")] == made
        for busy, fetch in zip(worker.of("busy"), worker.of("fetch"), strict=True):
            assert busy["got_ns"] <= fetch["begin_ns"] < fetch["end_ns"] <= busy["put_ns"]
            assert busy["idle_ns"] >= 0


def test_a_worker_tells_of_sending_each_batch(workers):
    for worker in workers:
        sends, made = worker.of("send"), worker.of("busy")
        # The main process may have the last batch, and end the worker, before that can note it.
        assert len(made) - 1 <= len(sends) <= len(made)
        for send, busy in zip(sends, made, strict=False):
            assert send["batch"] == busy["batch"]
            assert busy["put_ns"] <= send["begin_ns"]
            assert send["pickle_ns"] <= send["end_ns"] - send["begin_ns"]


def test_a_batch_is_told_by_its_samples_the_slowest_and_its_collate(main, workers):
    makers = [main, *workers]
    rows = [row for process in makers for row in process.of("fetch") if row["samples"] == 4 and not row["batched"]]
    assert rows
    for row in rows:
        assert 0 < row["slowest_ns"] <= row["items_ns"]
        assert row["items_ns"] + row["collate_ns"] <= row["end_ns"] - row["begin_ns"]
    slow = max((row for row in main.of("fetch") if row["samples"] == 4), key=lambda row: row["slowest_ns"])
    assert (slow["batch"] % 4, slow["slowest_position"]) == (1, 1)  # sample 5, in order, four a batch


def test_samples_fetched_together_have_no_slowest(main):
    rows = [row for row in main.of("fetch") if row["batched"]]
    assert len(rows) == 2 * 3
    assert {(row["samples"], row["slowest_ns"], row["slowest_position"]) for row in rows} == {(4, -1, -1)}
    assert all(row["items_ns"] > 0 for row in rows)


def test_what_the_main_process_makes_is_told_there(main):
    for row in main.of("fetch"):
        assert row["worker"] == -1
    batches = {(row["iterator"], row["batch"]) for row in main.of("fetch")}
    asked = {
        (row["iterator"], row["ordinal"])
        for loader in (PLAIN, TOGETHER, MINE)
        for row in nexts_of(main, loader)
        if row["status"] == NEXT_BATCH
    }
    assert batches == asked
    assert len(main.of("busy")) == len(main.of("fetch"))


def test_payloads_are_counted_where_they_are_sent(workers):
    sent = {(row["tensors"], row["payload_bytes"]) for worker in workers for row in worker.of("send")}
    assert (2, 4 * 3 * 4 + 4 * 8) in sent


def test_shutting_down_is_timed(main):
    rows = main.of("shutdown")
    assert {row["iterator"] for row in rows} >= iterators_of(main, WORKERS) | iterators_of(main, STREAM)
    assert all(row["end_ns"] > row["begin_ns"] for row in rows)


def test_the_process_says_what_its_hooks_took_in_all(main):
    taken = sum(row["status"] == NEXT_BATCH and row["depth"] == 0 for row in main.of("next"))
    (own,) = main.of("own")
    assert own["weighed"] == taken // WEIGHED_EVERY - 1, "one to begin with"
    least_ns = 1000  # a record alone takes longer
    assert own["weighed"] * WEIGHED_EVERY * least_ns < own["own_ns"] < own["of_ns"]
