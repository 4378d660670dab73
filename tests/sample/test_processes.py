"""Rows about processes: real ones that do one known thing, and drawn ones that refuse or end."""

import os
import subprocess
import sys
import time

import psutil
import pytest
from drawn_machine import machine, stat
from real_processes import BURN, READ_AGAIN, SLEEP, open_descriptors, running

from loaderdoctor.sample import watched
from loaderdoctor.sample.mounts import LOCAL, Mounts, kind_of
from loaderdoctor.sample.processes import MOST_GLANCES, MOST_PROCESSES, ProcessesSampler
from loaderdoctor.sample.procfs import PAGE_BYTES, KeptFile, Roots, first_words, parse_stat

FILE_BYTES = 8 << 20
GLANCES = 60

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def watch(pid):
    """The process' rows before and after GLANCES looks at it."""
    sampler = ProcessesSampler(Roots())
    first = sampler.sample([pid])["processes"][0]
    for _ in range(GLANCES):
        sampler.glance()
        time.sleep(0.005)
    last = sampler.sample([pid])["processes"][0]
    sampler.close()
    return first, last


@linux
def test_a_burner_is_on_the_cpu_or_in_its_queue():
    with running(BURN) as process:
        first, last = watch(process.pid)
    assert last["waits"] == {"run": GLANCES}
    assert last["main_thread_cpu_s"] > first["main_thread_cpu_s"]


@linux
def test_a_sleeper_uses_nothing():
    with running(SLEEP) as process:
        first, last = watch(process.pid)
    asleep = last["waits"].get("sleep", 0) + last["waits"].get("unnamed", 0)
    assert asleep >= GLANCES - 2, "all but its last steps from being ready to being asleep"
    assert last["read_bytes"] == first["read_bytes"]


@linux
def test_a_reader_of_dropped_files_waits_for_the_disk(tmp_path):
    mount = Mounts(Roots()).of(str(tmp_path))
    if mount is None or kind_of(mount.file_system) != LOCAL:
        pytest.skip("the temporary folder is not on a local disk")
    file = tmp_path / "data"
    with file.open("wb") as stream:
        stream.write(os.urandom(FILE_BYTES))
        os.fsync(stream.fileno())
    with running(READ_AGAIN, str(file)) as process:
        first, last = watch(process.pid)
    from_disk, read = (last[name] - first[name] for name in ("read_bytes", "read_chars"))
    assert from_disk > FILE_BYTES, "the file was read again from disk"
    assert from_disk / read == pytest.approx(1, abs=0.2)
    assert last["waits"].get("disk", 0) > last["waits"].get("network", 0)


@linux
def test_private_memory_and_thread_names_are_in_the_row_they_were_measured_in():
    with running(SLEEP) as process:
        sampler = ProcessesSampler(Roots())
        row = sampler.sample([process.pid])["processes"][0]
        again = sampler.sample([process.pid])["processes"][0]
        sampler.close()
    assert 0 < row["private_bytes"] <= row["rss_bytes"]
    assert len(row["thread_cpu_s"]) == 1  # named as the kernel does, which follows a link to the interpreter or not
    assert "private_bytes" not in again
    assert "thread_cpu_s" not in again


@linux
def test_a_process_that_ends_leaves_the_rows_and_its_descriptors():
    before = open_descriptors()
    with running(SLEEP) as process:
        sampler = ProcessesSampler(Roots())
        assert sampler.sample([process.pid])
        process.kill()
        process.wait()
        sampler.glance()
        assert sampler.sample([process.pid]) is None, "listed, and gone before it was looked at"
    assert open_descriptors() <= before
    assert sampler.notes() == []


def drawn(tmp_path, pids=(7,)):
    lines = []
    for pid in pids:
        lines += [
            f"proc/{pid}/stat = {stat(name='pt data) (x', cpu_ticks=250, reaped_ticks=100, threads=4)}",
            f"proc/{pid}/task/{pid}/stat = {stat(name='pt_data_pin_3', state='D', cpu_ticks=40)}",
            f"proc/{pid}/status = Name: x|RssAnon: 8 kB|voluntary_ctxt_switches: 5|Cpus_allowed_list: 0-3",
            f"proc/{pid}/io = rchar: 100|read_bytes: 40",
            f"proc/{pid}/wchan = nfs_wait_bit",
            f"proc/{pid}/smaps_rollup = Private_Clean: 1 kB|Private_Dirty: 2 kB",
        ]
    return machine(tmp_path, "\n".join(lines))


def test_a_row_has_the_numbers_of_the_files(tmp_path, monkeypatch):
    monkeypatch.setattr("loaderdoctor.sample.procfs.TICKS_PER_S", 100)
    sampler = ProcessesSampler(drawn(tmp_path))
    first = sampler.sample([7])["processes"][0]
    sampler.glance()
    row = first | sampler.sample([7])["processes"][0]
    expected = {
        "name": "pt data) (x",
        "cpu_s": 2.5,
        "reaped_cpu_s": 1.0,
        "major_faults": 3,
        "threads": 4,
        "rss_bytes": 5 * PAGE_BYTES,
        "anonymous_bytes": 8192,
        "voluntary_switches": 5,
        "cpus_allowed_list": "0-3",
        "read_chars": 100,
        "read_bytes": 40,
        "private_bytes": 3072,
        "waits": {"network": 1},
    }
    assert {name: row[name] for name in expected} == expected


def test_threads_are_added_up_by_name_without_their_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr("loaderdoctor.sample.procfs.TICKS_PER_S", 100)
    roots = machine(
        tmp_path,
        f"""
        proc/7/stat = {stat()}
        proc/7/task/7/stat = {stat(name="python3", cpu_ticks=10)}
        proc/7/task/8/stat = {stat(name="pt_autograd_0", cpu_ticks=20)}
        proc/7/task/9/stat = {stat(name="pt_autograd_1", cpu_ticks=30)}
        """,
    )
    row = ProcessesSampler(roots).sample([7])["processes"][0]
    assert row["thread_cpu_s"] == {"python": 0.1, "pt_autograd": 0.5}


def test_files_that_may_not_be_read_are_left_out_and_noted(tmp_path, monkeypatch):
    roots = drawn(tmp_path)

    class Guarded(KeptFile):
        def __init__(self, path):
            if str(path).endswith("/io"):
                raise PermissionError(path)
            super().__init__(path)

    monkeypatch.setattr(watched, "KeptFile", Guarded)
    sampler = ProcessesSampler(roots)
    row = sampler.sample([7])["processes"][0]
    assert "read_bytes" not in row
    assert row["threads"] == 4
    assert [slug for slug, text in sampler.notes() if "io" in text] == ["sample-refused"]


def test_more_processes_than_descriptors_allow_are_noted(tmp_path):
    pids = range(1000, 1000 + MOST_PROCESSES + 2)
    sampler = ProcessesSampler(drawn(tmp_path, pids))
    assert len(sampler.sample(pids)["processes"]) == MOST_PROCESSES
    assert [slug for slug, _ in sampler.notes()] == ["sample-many-processes"]
    sampler.close()


SAMPLES_MANY = """
import json, os, resource, subprocess, sys
from pathlib import Path
from loaderdoctor import sample
resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
children = [subprocess.Popen(["sleep", "1000"]) for _ in range(40)]
sampling = sample.start(Path(sys.argv[1]), os.getpid())
sampling.stop()
for child in children:
    child.kill()
rows = Path(sys.argv[1], "samples", "processes.jsonl").read_text().splitlines()
print({len(json.loads(row)["processes"]) for row in rows}, *sampling.notes, sep="\\n")
"""


@linux
def test_a_low_limit_of_open_files_is_noted_and_what_it_allows_is_watched(tmp_path):
    told = subprocess.check_output([sys.executable, "-c", SAMPLES_MANY, str(tmp_path)], text=True).splitlines()
    text = (
        "Only the first 9 processes of the script were watched: the limit of open files (`ulimit -n`) allows no more."
    )
    assert told[0] == "{9}"
    assert str(("sample-many-processes", text)) in told
    assert not [line for line in told if "failed" in line or "lost" in line]


def test_glances_at_many_processes_take_turns(tmp_path):
    pids = range(1000, 1000 + 2 * MOST_GLANCES)
    sampler = ProcessesSampler(drawn(tmp_path, pids))
    sampler.sample(pids)
    sampler.glance()
    left = pids[1:]
    assert sum("waits" in row for row in sampler.sample(left)["processes"]) == MOST_GLANCES - 1
    sampler.glance()
    assert all(row["waits"] == {"network": 1} for row in sampler.sample(left)["processes"])
    sampler.close()


def test_without_proc_the_row_has_what_psutil_knows(tmp_path):
    with running(BURN) as process:
        sampler = ProcessesSampler(machine(tmp_path))
        row = sampler.sample([process.pid])["processes"][0]
        process.kill()
        process.wait()
        assert sampler.sample([process.pid]) is None
    assert row["pid"] == process.pid
    assert row["rss_bytes"] > 0
    assert "waits" not in row


def test_where_psutil_is_denied_nothing_is_said_of_the_process_but_that(tmp_path, monkeypatch):
    def denied(_process):
        raise psutil.AccessDenied

    with running(SLEEP) as process:
        monkeypatch.setattr(psutil.Process, "name", denied)
        sampler = ProcessesSampler(machine(tmp_path))
        assert sampler.sample([process.pid]) is None
    assert [slug for slug, _ in sampler.notes()] == ["sample-refused"]


@pytest.mark.parametrize("line", [b"", b"7 (python", b"7 (python) S 1 2"])
def test_a_cut_stat_line_is_refused(line):
    with pytest.raises(ValueError, match=r"stat line|not found"):
        parse_stat(line)


@pytest.mark.parametrize(
    ("text", "names", "found"),
    [
        (b"a: 1\nb:\t2 kB\n", ["a", "b", "c"], {"a": "1", "b": "2"}),
        (b"swap 1\nswap_in 2", ["swap_in", "swap"], {"swap_in": "2", "swap": "1"}),
        (b"swap_in 2\nswap 1", ["swap"], {"swap": "1"}),
        (b"xa: 1\n", ["a"], {}),
        (b"a:\n", ["a"], {}),
        (b"", ["a"], {}),
    ],
)
def test_first_words_of_named_lines(text, names, found):
    assert first_words(text, names) == found
