"""The record file: whole records, from any thread and any fork, whatever happens to the disk."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from probing import main_of, read, workers_of

from loaderdoctor.probe import control, sinks
from loaderdoctor.probe import writer as writing
from loaderdoctor.probe.layout import KIND_OF, ROLE_WORKER
from loaderdoctor.probe.writer import Writer, reason_of
from loaderdoctor.record import read_processes

STEP = KIND_OF["optimizer_step"]


@pytest.fixture
def writer(tmp_path):
    (tmp_path / "records").mkdir()
    writer = Writer(str(tmp_path))
    yield writer
    writer.close()


def in_a_fork(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


def test_no_file_before_the_first_record(writer, tmp_path):
    assert read(tmp_path) == []
    assert not writer.is_open
    writer.end(0)
    assert read(tmp_path) == []


def test_records_come_back_as_written(writer, tmp_path):
    writer.put(STEP, 1, 2, 3, 4, 5)
    writer.put(STEP, -1, 2**62, -(2**62))
    assert main_of(tmp_path).of("optimizer_step") == [
        {"optimizer": 1, "end_ns": 2, "thread": 3, "cpu_ns": 4, "asked_cpu_ns": 5},
        {"optimizer": -1, "end_ns": 2**62, "thread": -(2**62), "cpu_ns": 0, "asked_cpu_ns": 0},
    ]


@pytest.mark.parametrize("text", ["", "a", "x" * 88, "x" * 89, "é" * 500, '{"a": "\\u0000"}'])
def test_texts_of_any_length_come_back(writer, tmp_path, text):
    writer.note("slug", text)
    (note,) = main_of(tmp_path).of("note")
    assert (note["slug_text"], note["sentence_text"]) == ("slug", text)


def test_a_text_is_written_once(writer, tmp_path):
    assert writer.text("same") == writer.text("same") != writer.text("other")
    size = (tmp_path / "records").stat().st_size
    writer.text("same")
    assert (tmp_path / "records").stat().st_size == size


@pytest.mark.parametrize("fields", [(None,), ("a",), (2**63,), (0,) * 16])
def test_what_is_no_record_is_counted_and_nothing_more(writer, tmp_path, fields):
    writer.put(STEP, *fields)
    writer.put(STEP, 1)
    assert writer.lost == 1
    assert len(main_of(tmp_path).of("optimizer_step")) == 1


def test_lost_records_are_told_of_with_the_reason(writer, tmp_path, monkeypatch):
    writer.put(STEP, 1)

    def full(_record):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(writer._sink, "put", full)
    writer.put(STEP, 2)
    writer.put(STEP, 3)
    (lost,) = main_of(tmp_path).of("lost")
    assert (lost["records"], lost["errno"]) == (2, errno.ENOSPC)
    assert reason_of(lost["errno"]) == "the disk is full"
    assert reason_of(0) == "why is not known"


def test_the_first_reason_for_the_end_counts(writer, tmp_path):
    writer.put(STEP, 1)
    writer.end(0)
    writer.end(1)
    assert [row["why"] for row in main_of(tmp_path).of("end")] == [0]


def test_a_folder_that_is_not_there_is_no_matter(tmp_path):
    writer = Writer(str(tmp_path / "absent"))
    writer.put(STEP, 1)
    assert writer.text("text") > 0
    writer.end(0)
    assert writer.lost


def open_descriptors():
    return sorted(path.name for path in Path("/dev/fd").iterdir())


def test_a_disk_without_room_for_a_file_is_said_on_the_page_of_the_run(tmp_path, monkeypatch):
    (tmp_path / "records").mkdir()
    control.create(str(tmp_path))
    writer = Writer(str(tmp_path))

    def full(_descriptor, _data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    before = open_descriptors()
    assert writer.text("text") > 0
    writer.put(STEP, 1)
    writer.note("slug", "sentence")
    assert open_descriptors() == before
    assert writer.lost >= 2
    page = control.Control.open(str(tmp_path))
    assert page.word(control.LOST_RECORDS) == writer.lost
    assert page.word(control.LOST_ERRNO) == errno.ENOSPC


@pytest.fixture(params=["mapped", "written"])
def either(request, tmp_path, monkeypatch):
    """A writer on a file system whose files may be mapped, and on one whose may not."""
    (tmp_path / "records").mkdir()
    if request.param == "written":
        monkeypatch.setattr(sinks, "can_map", lambda _: False)
    writer = Writer(str(tmp_path))
    yield writer
    writer.close()


def test_a_script_that_closes_every_descriptor_and_opens_its_own_finds_nothing_of_ours_in_them(either, tmp_path):
    def daemon():
        resource.setrlimit(resource.RLIMIT_NOFILE, (1200, 1200))
        either.put(STEP, 1)
        os.closerange(3, 1200)
        files = [os.open(tmp_path / "mine", os.O_RDWR | os.O_CREAT) for _ in range(1100)]
        either.put(STEP, 2)
        either.text("a text")
        either.close()
        os._exit(int(len(files) != 1100))

    pid = os.fork()
    if pid == 0:
        daemon()
    assert os.waitpid(pid, 0)[1] == 0
    assert (tmp_path / "mine").read_bytes() == b""


def test_a_mapped_file_keeps_no_descriptor(writer):
    before = open_descriptors()
    for step in range(1000):
        writer.put(STEP, step)
    assert open_descriptors() == before


def test_either_sink_keeps_what_was_put(either, tmp_path):
    for step in range(1000):
        either.put(STEP, step)
    either.put(STEP, "no number")
    either.end(0)
    either.close()
    main = main_of(tmp_path)
    assert [row["optimizer"] for row in main.of("optimizer_step")] == list(range(1000))
    assert [row["records"] for row in main.of("lost")] == [1]


def test_workers_share_a_file_however_many_come(writer, tmp_path):
    def work(number):
        writer.role, writer.worker = ROLE_WORKER, number
        for step in range(100):
            writer.put(STEP, number, step)

    writer.put(STEP, 1)
    for number in range(12):
        in_a_fork(lambda number=number: work(number))
    assert len(list((tmp_path / "records").iterdir())) == 2
    workers = workers_of(tmp_path)
    assert len(workers) == 12
    assert all(len(worker.of("optimizer_step")) == 100 for worker in workers)
    assert [len(process.tables["optimizer_step"]["end_ns"]) for process in all_of(tmp_path)] == [1, *[100] * 12]


def all_of(run_dir):
    return [process for path in sorted((run_dir / "records").iterdir()) for process in read_processes(path)]


def test_a_limit_on_the_size_of_files_is_told_of(writer, tmp_path):
    def child():
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        for step in range(2000):
            writer.put(STEP, step)

    in_a_fork(child)
    (process,) = read(tmp_path)
    (lost,) = process.of("lost")
    assert lost["records"] + len(process.of("optimizer_step")) == 2000
    assert lost["errno"] in {errno.EFBIG, errno.ENOSPC}


def test_nothing_is_put_after_the_run_has_ended(tmp_path):
    (tmp_path / "records").mkdir()
    control.create(str(tmp_path))
    writer = Writer(str(tmp_path))
    writer.put(STEP, 1)
    control.Control.open(str(tmp_path)).set_word(control.ENDED, 1)
    writer.put(STEP, 2)
    assert len(main_of(tmp_path).of("optimizer_step")) == 1
    assert writer.lost == 0


def test_a_full_file_says_so_and_still_ends(writer, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "MOST_BYTES", 10_000)
    for step in range(400):
        writer.put(STEP, step)
    writer.end(0)
    (process,) = read(tmp_path)
    assert 50 < len(process.of("optimizer_step")) < 100
    assert [row["slug_text"] for row in process.of("note")] == ["records-capped"]
    assert len(process.of("end")) == 1


def test_a_fork_writes_a_file_of_its_own(writer, tmp_path):
    writer.note("of", "the parent")

    def child():
        writer.role, writer.worker = ROLE_WORKER, 3
        writer.note("of", "the child")

    in_a_fork(child)
    writer.put(STEP, 1)
    main, worker = read(tmp_path)
    assert [row["sentence_text"] for row in main.of("note")] == ["the parent"]
    assert [row["sentence_text"] for row in worker.of("note")] == ["the child"]
    assert worker.of("header")[0]["worker"] == 3
    assert worker.of("header")[0]["ppid"] == main.of("header")[0]["pid"]


def test_threads_that_open_at_once_share_one_file(writer, tmp_path):
    together = threading.Barrier(8)

    def write(thread):
        together.wait()
        for step in range(50):
            writer.put(STEP, thread, step)
            writer.text(f"{thread} {step}")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = main_of(tmp_path).of("optimizer_step")
    assert sorted((row["optimizer"], row["end_ns"]) for row in rows) == [(t, s) for t in range(8) for s in range(50)]
    assert len({writer.text(f"{thread} {step}") for thread in range(8) for step in range(50)}) == 400


def test_the_scripts_descriptors_keep_their_numbers(writer):
    def lowest():
        descriptor = os.open(os.devnull, os.O_RDONLY)
        os.close(descriptor)
        return descriptor

    before = lowest()
    writer.put(STEP, 1)
    assert lowest() == before


def test_few_descriptors_are_enough(tmp_path):
    (tmp_path / "records").mkdir()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    def child():
        resource.setrlimit(resource.RLIMIT_NOFILE, (32, hard))
        Writer(str(tmp_path)).put(STEP, soft)

    in_a_fork(child)
    assert [row["optimizer"] for row in main_of(tmp_path).of("optimizer_step")] == [soft]


def test_kill_leaves_every_record_that_was_written(tmp_path):
    (tmp_path / "records").mkdir()
    source = (
        "import os, signal, sys\n"
        "from loaderdoctor.probe.writer import Writer\n"
        "writer = Writer(sys.argv[1])\n"
        "for step in range(1000): writer.put(int(sys.argv[2]), step)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", source, str(tmp_path), str(STEP)], check=False)
    assert ended.returncode == -signal.SIGKILL
    main = main_of(tmp_path)
    assert [row["optimizer"] for row in main.of("optimizer_step")] == list(range(1000))
    assert main.torn_bytes == 0


def test_several_records_are_each_one(writer, tmp_path):
    writer.put_all([(STEP, 2), (STEP, 3, 4)])
    rows = main_of(tmp_path).of("optimizer_step")
    assert [(row["optimizer"], row["end_ns"]) for row in rows] == [(2, 0), (3, 4)]
    writer.put_all([(STEP, 1), (STEP, None)])
    assert writer.lost == 1
