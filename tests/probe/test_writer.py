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
from probing import main_of, read

from loaderdoctor.probe import writer as writing
from loaderdoctor.probe.layout import KIND_OF, ROLE_WORKER
from loaderdoctor.probe.writer import Writer

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
    writer.put(STEP, 1, 2, 3)
    writer.put(STEP, -1, 2**62, -(2**62))
    assert main_of(tmp_path).of("optimizer_step") == [
        {"optimizer": 1, "end_ns": 2, "thread": 3},
        {"optimizer": -1, "end_ns": 2**62, "thread": -(2**62)},
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


def test_lost_records_are_told_of_at_the_end(writer, tmp_path):
    writer.put(STEP, 1)
    writer.put(STEP, "no number")
    writer.end(0)
    writer.end(1)
    (process,) = read(tmp_path)
    assert [row["slug_text"] for row in process.of("note")] == ["records-lost"]
    assert [row["why"] for row in process.of("end")] == [0]


def test_a_folder_that_is_not_there_is_no_matter(tmp_path):
    writer = Writer(str(tmp_path / "absent"))
    writer.put(STEP, 1)
    assert writer.text("text") > 0
    writer.end(0)
    assert writer.lost


def open_descriptors():
    return sorted(path.name for path in Path("/dev/fd").iterdir())


def test_a_disk_without_room_for_a_header_costs_no_descriptor(writer, tmp_path, monkeypatch):
    def full(_descriptor, _data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(writing.os, "write", full)
    before = open_descriptors()
    assert writer.text("text") > 0
    writer.put(STEP, 1)
    writer.note("slug", "sentence")
    assert open_descriptors() == before
    assert writer.lost >= 2
    assert list((tmp_path / "records").iterdir()) == []


def test_a_script_that_closes_every_descriptor_is_told_nothing(writer):
    writer.put(STEP, 1)
    os.close(writer._descriptors[os.getpid()])
    writer.put(STEP, 2)
    writer.close()
    assert writer.lost == 1


def test_a_full_file_says_so_and_still_ends(writer, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "MOST_BYTES", 128 * 20)
    for step in range(40):
        writer.put(STEP, step)
    writer.end(0)
    (process,) = read(tmp_path)
    assert 10 < len(process.of("optimizer_step")) < 25
    assert {row["slug_text"] for row in process.of("note")} == {"records-capped", "records-lost"}
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


def test_what_waits_is_written_with_the_next_record_and_at_the_end(writer, tmp_path):
    writer.text("opens the file")
    writer.put_soon(STEP, 1)
    assert main_of(tmp_path).of("optimizer_step") == []
    writer.put_soon(STEP, "no number")
    writer.put(STEP, 2)
    assert [row["optimizer"] for row in main_of(tmp_path).of("optimizer_step")] == [1, 2]
    writer.put_soon(STEP, 3)
    writer.end(0)
    assert [row["optimizer"] for row in main_of(tmp_path).of("optimizer_step")] == [1, 2, 3]
    assert writer.lost == 1


def test_what_waits_is_never_much(writer, tmp_path):
    for step in range(writing.MOST_SOON):
        writer.put_soon(STEP, step)
    assert len(main_of(tmp_path).of("optimizer_step")) == writing.MOST_SOON


def test_what_waits_is_the_parents_to_write(writer, tmp_path):
    writer.put_soon(STEP, 1)
    in_a_fork(lambda: writer.put(STEP, 2))
    writer.put(STEP, 3)
    written = sorted([row["optimizer"] for row in process.of("optimizer_step")] for process in read(tmp_path))
    assert written == [[1, 3], [2]]


def test_several_records_are_written_at_once(writer, tmp_path, monkeypatch):
    writer.text("opens the file")
    writes, write = [], os.write
    monkeypatch.setattr(writing.os, "write", lambda descriptor, data: writes.append(data) or write(descriptor, data))
    writer.put_soon(STEP, 1)
    writer.put_all([(STEP, 2), (STEP, 3, 4)])
    assert len(writes) == 1
    rows = main_of(tmp_path).of("optimizer_step")
    assert [(row["optimizer"], row["end_ns"]) for row in rows] == [(1, 0), (2, 0), (3, 4)]
    writer.put_all([(STEP, 1), (STEP, None)])
    assert writer.lost == 2


def test_what_waited_for_a_full_disk_is_counted_as_lost(writer, monkeypatch):
    def full(_descriptor, _data):
        raise OSError(errno.ENOSPC, "No space left on device")

    writer.text("opens the file")
    monkeypatch.setattr(writing.os, "write", full)
    for step in range(10):
        writer.put_soon(STEP, step)
    writer.put(STEP, 10)
    assert writer.lost == 11
