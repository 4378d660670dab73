"""Signals from samples: rows written as a table, one a second, and what is said of them."""

from dataclasses import replace

import pytest
from drawn_runs import run_of

from loaderdoctor.analyse.around import disk_signals, machine_signals, worker_samples
from loaderdoctor.analyse.counters import Change, changes, key, proportion, ratio, within
from loaderdoctor.probe.layout import ROLE_MAIN, ROLE_WORKER
from loaderdoctor.record.run import ProcessRecords, Samples
from loaderdoctor.values import Measured, Missing

SECOND = 1_000_000_000
MAIN, WORKER = 10, 11
NO = Missing("no", "No.")


def process(pid, role):
    return ProcessRecords({"pid": pid, "role": role}, {}, {})


def run(samples, environment=None, processes=((MAIN, ROLE_MAIN), (WORKER, ROLE_WORKER))):
    """A run whose samplers wrote a row a second, given as {sampler: [row, ...]}."""
    tables = {
        name: Samples(name, tuple({"at_ns": second * SECOND, **row} for second, row in enumerate(rows)))
        for name, rows in samples.items()
    }
    plain = run_of([process(*each) for each in processes], ended_s=10, environment=environment or {})
    return replace(plain, samples=tables)


def growing(seconds, **rates):
    """Rows of counters that grow by so much a second."""
    return [{name: rate * second for name, rate in rates.items()} for second in range(seconds)]


def tree(seconds, **rates):
    """Rows of two processes whose CPU and other counters grow by so much a second, each."""
    plain = {"cpu_s": 0.0, "reaped_cpu_s": 0.0, "started_ticks": 1}
    return [
        {"processes": [{"pid": pid, **plain, **row} for pid in (MAIN, WORKER)]} for row in growing(seconds, **rates)
    ]


def values(signals, names):
    return {name: getattr(signals, name).value for name in names.split()}


def test_the_job_and_its_neighbours_share_the_machine():
    # four CPUs, two of them allowed: the job keeps one busy (half each process), others one and a half, a host takes 0.2
    found = machine_signals(
        run(
            {
                "processes": tree(20, cpu_s=0.5),
                "machine": [
                    {"cpus": 4, "allowed_cpus": 2, **row}
                    for row in growing(
                        20, busy_cpu_s=2.5, stolen_cpu_s=0.2, allowed_busy_cpu_s=1.5, allowed_stolen_cpu_s=0.0
                    )
                ],
            },
            {"cpus_present": 4, "cpus_allowed": 2.0},
        )
    )
    assert values(found, "cpus_present cpus_allowed cpu_busy_share") == {
        "cpus_present": 4,
        "cpus_allowed": 2,
        "cpu_busy_share": pytest.approx(0.5),
    }
    assert found.neighbour_cpu_share.value == pytest.approx((2.5 + 0.2 - 1) / 4)
    assert found.neighbour_allowed_cpu_share.value == pytest.approx((1.5 - 1) / 2)
    assert found.stolen_cpu_share.value == pytest.approx(0.05)


def test_cpu_of_ended_children_passes_to_their_parent_and_is_counted_once():
    rows = [
        {
            "processes": [
                {"pid": MAIN, "started_ticks": 1, "cpu_s": 0.0, "reaped_cpu_s": 0.0},
                {"pid": WORKER, "started_ticks": 2, "cpu_s": 1.0, "reaped_cpu_s": 0.0},
            ]
        },
        {"processes": [{"pid": MAIN, "started_ticks": 1, "cpu_s": 0.0, "reaped_cpu_s": 1.5}]},
    ]
    found = machine_signals(run({"processes": rows}, {"cpus_allowed": 1}))
    assert found.cpu_busy_share.value == pytest.approx(0.5)


THROTTLED = {
    # name: (quota, throttled periods a second, periods a second, share)
    "no quota": (None, 0, 0, 0.0),
    "a quota that is never reached": (4.0, 0, 10, 0.0),
    "stopped in three of ten periods": (2.0, 3, 10, 0.3),
    "a quota and nothing counted": (2.0, 0, 0, None),
}


@pytest.mark.parametrize("case", THROTTLED)
def test_throttled_share(case):
    quota, throttled, periods, share = THROTTLED[case]
    rows = [{"quota_cpus": quota, **row} for row in growing(5, throttled_periods=throttled, periods=periods)]
    found = machine_signals(run({"cgroup": rows})).throttled_share
    assert (found.value if isinstance(found, Measured) else None) == share


def test_pressure_swap_and_refaults_are_rates():
    rows = growing(10, cpu_pressure_s=0.4, io_pressure_s=0.1, swapped_in_pages=1, swapped_out_pages=2, file_refaults=7)
    found = machine_signals(run({"machine": rows}))
    assert values(found, "cpu_pressure_share io_pressure_share swapped_bytes_per_s file_refaults_per_s") == {
        "cpu_pressure_share": pytest.approx(0.4),
        "io_pressure_share": pytest.approx(0.1),
        "swapped_bytes_per_s": pytest.approx(3 * 4096),
        "file_refaults_per_s": pytest.approx(7),
    }
    assert found.memory_pressure_share.slug == "not-readable"


@pytest.mark.parametrize(
    ("available", "group", "expected"),
    [
        ([50, 30, 40], [], (40, 30, 50)),
        ([50, 30, 40], [{"memory_limit_bytes": 20, "memory_bytes": 15, "memory_cache_bytes": 5}], (10, 10, 10)),
        ([50], [{"memory_limit_bytes": None, "memory_bytes": 15}], (50, 50, 50)),
        ([], [], None),
    ],
)
def test_available_memory_is_the_machines_or_what_the_limit_leaves(available, group, expected):
    samples = {"machine": [{"memory_available_bytes": size} for size in available], "cgroup": group}
    found = machine_signals(run(samples)).memory_available_bytes
    assert (isinstance(found, Measured) and (found.value, found.low, found.high)) == (expected or False)


def test_a_run_that_was_not_sampled_says_so_everywhere():
    found = machine_signals(run({}))
    for name in ["cpu_busy_share", "neighbour_cpu_share", "throttled_share", "memory_available_bytes", "cpus_allowed"]:
        assert isinstance(getattr(found, name), Missing), name
    disk = disk_signals(run({}))
    assert (disk.kind, disk.seen_share.slug, disk.cache_hit_share.slug) == (
        "unknown",
        "not-sampled",
        "process-not-sampled",
    )
    assert worker_samples(run({}))[WORKER].cpu_share.slug == "process-not-sampled"


def test_a_limit_that_was_not_found_gives_the_reason_of_the_environment():
    environment = {"memory_total_bytes": 100, "missing": {"cpus_allowed": "nobody knows"}}
    found = machine_signals(run({}, environment))
    assert found.memory_limit_bytes.value == 100
    assert found.cpus_allowed.reason == "nobody knows"
    assert found.facts == environment


def mount(folder, kind, device, seen):
    return {"folder": folder, "file_system": kind, "kind": kind, "device": device, "opened": seen, "mapped": 0}


def disks(seconds, *mounts, **rates):
    """Rows where mounts are seen so often a second, and the counters of `sda` grow."""
    return [
        {"mounts": [mount(*of, seen * second) for *of, seen in mounts], "disks": {"sda": row} if rates else {}}
        for second, row in enumerate(growing(seconds, **rates) or [{}] * seconds)
    ]


def test_the_disk_is_that_of_the_mount_where_most_files_were_seen():
    rows = disks(
        11,
        ("/", "overlay", None, 1),
        ("/data", "ext4", "sda", 3),
        read_bytes=100e6,
        reads=500,
        busy_s=0.8,
        read_wait_s=2.0,
        queued_s=4.0,
    )
    found = disk_signals(run({"disks": rows}))
    assert (found.file_system, found.device) == ("ext4", "sda")
    assert values(found, "seen_share read_bytes_per_s reads_per_s busy_share await_s queue_length") == {
        "seen_share": 0.75,
        "read_bytes_per_s": pytest.approx(100e6),
        "reads_per_s": pytest.approx(500),
        "busy_share": pytest.approx(0.8),
        "await_s": pytest.approx(0.004),
        "queue_length": pytest.approx(4),
    }


def test_a_disk_that_is_elsewhere_has_no_numbers():
    found = disk_signals(run({"disks": disks(5, ("/far", "nfs4", None, 1))}))
    assert (found.file_system, found.device, found.busy_share.slug) == ("nfs4", None, "no-block-device")


def test_no_data_file_seen():
    assert disk_signals(run({"disks": disks(5)})).seen_share.slug == "no-data-file-seen"


READS = {
    # name: (bytes from disk a second, bytes in all, hit share or the reason)
    "all from disk": (100, 100, 0.0),
    "three quarters from the page cache": (25, 100, 0.75),
    "readahead past the end": (150, 100, 0.0),
    "all mapped": (50, 0, "no-reads"),
}


@pytest.mark.parametrize("case", READS)
def test_cache_hit_share_is_that_of_the_workers(case):
    from_disk, read, hit = READS[case]
    rows = tree(10, read_bytes=from_disk, read_chars=read)
    for row in rows:
        row["processes"][0] |= {"read_bytes": 0, "read_chars": 0}  # the main process reads nothing, and is not asked
    found = disk_signals(run({"processes": rows}))
    share = found.cache_hit_share
    assert (share.value if isinstance(share, Measured) else share.slug) == hit
    assert found.job_read_bytes_per_s.value == pytest.approx(from_disk)


def test_without_workers_the_main_process_reads():
    rows = tree(10, read_bytes=10, read_chars=40)
    found = disk_signals(run({"processes": rows}, processes=[(MAIN, ROLE_MAIN)]))
    assert found.cache_hit_share.value == pytest.approx(0.75)


def test_reads_of_workers_that_are_started_anew_are_added_over_time():
    # each second another worker that reads 100 bytes and ends
    rows = [
        {"processes": [{"pid": WORKER, "started_ticks": second, "cpu_s": 0, "reaped_cpu_s": 0} | read]}
        for second in range(10)
        for read in [{"read_bytes": 100, "read_chars": 100}]
    ]
    assert disk_signals(run({"processes": rows})).job_read_bytes_per_s.value == pytest.approx(100)


def worker_rows(**columns):
    """Rows of one worker, a column given as its values."""
    count = max(len(column) for column in columns.values())
    plain = {"pid": WORKER, "started_ticks": 1, "cpu_s": 0.0, "reaped_cpu_s": 0.0}
    return [
        {"processes": [plain | {name: column[k] for name, column in columns.items() if column[k] is not None}]}
        for k in range(count)
    ]


def test_a_worker_as_the_parent_saw_it():
    rows = worker_rows(
        cpu_s=[0.0, 0.3, 0.6],
        main_thread_cpu_s=[0.0, 0.1, 0.15],
        main_thread_run_queue_s=[0.0, 0.1, 0.2],
        rss_bytes=[100, 300, 200],
        private_bytes=[40, None, 90],
        threads=[1, 9, 9],
        cpus_allowed_list=["0-3", "0-3", "2"],
        waits=[{"run": 5}, {"run": 8, "disk": 1}, {"run": 11, "disk": 3, "network": 4, "sleep": 2}],
    )
    worker = worker_samples(run({"processes": rows}))[WORKER]
    assert (worker.rss_bytes.value, worker.rss_bytes.low, worker.rss_bytes.high) == (200, 100, 300)
    assert (worker.private_growth_bytes.value, worker.threads.value, worker.cpus_allowed_list) == (50, 9, "2")
    assert worker.cpu_share.value == pytest.approx(0.3)
    assert worker.run_queue_share.value == pytest.approx(0.1)
    assert worker.other_threads_share.value == pytest.approx(0.75)
    shares = values(worker, "disk_share network_share lock_share sleep_share")
    assert shares == {
        "disk_share": pytest.approx(3 / 15),
        "network_share": pytest.approx(4 / 15),
        "lock_share": 0,
        "sleep_share": pytest.approx(2 / 15),
    }


def test_where_the_kernel_hides_what_a_thread_waits_for_network_is_not_denied():
    rows = worker_rows(waits=[{}, {"unnamed": 30, "disk": 10}])
    worker = worker_samples(run({"processes": rows}))[WORKER]
    assert worker.network_share.slug == "wait-names-hidden"
    assert (worker.disk_share.value, worker.sleep_share.value) == (0.25, 0.75)


def test_a_wait_without_a_name_may_have_been_any():
    rows = worker_rows(waits=[None, {"unnamed": 1, "network": 2, "run": 17}])
    network = worker_samples(run({"processes": rows}))[WORKER].network_share
    certain = proportion(2, 20, NO)
    assert (network.value, network.low) == (certain.value, certain.low)
    assert network.high == proportion(3, 20, NO).high


def test_private_memory_that_was_looked_at_once_has_no_growth():
    worker = worker_samples(run({"processes": worker_rows(private_bytes=[None, 90, None])}))[WORKER]
    assert worker.private_bytes.value == 90
    assert worker.private_growth_bytes.slug == "private-not-measured"


def test_a_recycled_pid_is_not_taken_for_the_worker():
    rows = worker_rows(rss_bytes=[100, 100, 100])
    rows.append({"processes": [{"pid": WORKER, "started_ticks": 77, "cpu_s": 0, "reaped_cpu_s": 0, "rss_bytes": 9}]})
    assert worker_samples(run({"processes": rows}))[WORKER].rss_bytes.low == 100


def test_a_window_leaves_the_rest_of_the_run_out():
    rows = [{"cpu_pressure_s": min(10, second)} for second in range(20)]
    whole = run({"machine": rows})
    assert machine_signals(whole, (0, 9 * SECOND)).cpu_pressure_share.value == pytest.approx(1)
    assert machine_signals(whole, (11 * SECOND, 19 * SECOND)).cpu_pressure_share.value == 0


@pytest.mark.parametrize(
    ("window", "seconds"),
    [
        (None, [0, 1, 2, 3]),
        ((1, 3), [1, 2, 3]),
        ((1.2, 2.9), [1, 2, 3]),
        ((1.2, 1.8), [1, 2]),
        ((-5, -1), [0]),
        ((9, 12), [3]),
    ],
)
def test_rows_of_a_window_and_around_a_short_one(window, seconds):
    rows = [{"at_ns": second * SECOND} for second in range(4)]
    bounds = window and tuple(round(end * SECOND) for end in window)
    assert [row["at_ns"] // SECOND for row in within(rows, bounds)] == seconds


def test_a_counter_that_restarts_and_rows_without_it_are_left_out():
    rows = [{"at_ns": second * SECOND, "x": x} for second, x in enumerate([5, 7, 1, 2])] + [{"at_ns": 9 * SECOND}]
    assert changes(rows, key("x")) == [Change(2, 1), Change(1, 1)]


def test_an_interval_holds_the_share_and_is_wider_for_a_restless_one():
    calm, restless = ([Change(amount, 1.0) for amount in amounts * 30] for amounts in ([0.5, 0.5], [0.0, 1.0]))
    even, uneven = ratio(calm, "share", NO), ratio(restless, "share", NO)
    assert (even.low, even.value, even.high) == (0.5, 0.5, 0.5)
    assert uneven.low < uneven.value < uneven.high


def test_tick_rounding_does_not_carry_a_share_past_its_limits():
    assert ratio([Change(1.01, 1.0)], "share", NO, highest=1.0).value == 1
    assert ratio([Change(-0.01, 1.0)], "share", NO).value == 0
    assert ratio([Change(0.0, 0.0)], "share", NO) is NO


@pytest.mark.parametrize(("count", "total"), [(0, 50), (50, 50), (10, 40), (1, 1)])
def test_a_proportion_lies_in_its_interval_and_is_never_surer_than_its_count(count, total):
    found = proportion(count, total, NO)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high > found.low


def test_no_observation_is_no_proportion():
    assert proportion(0, 0, NO) is NO
