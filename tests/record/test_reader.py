"""Runs read back from disk, whole, cut short or foreign."""

import json

import builders
import numpy as np
import pytest

from loaderdoctor import record
from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.probe.layout import HEADER, KIND_OF, RECORD, RECORD_BYTES, TEXT_BYTES
from loaderdoctor.record import reader

RUN = builders.run_from("x[wcwwc]", num_workers=1)


@pytest.fixture
def on_disk(tmp_path):
    return builders.write(RUN, tmp_path / "run")


def main_file(run_dir):
    return next((run_dir / "records").glob("main-*.bin"))


def as_plain(process):
    tables = {kind: {name: list(column) for name, column in table.items()} for kind, table in process.tables.items()}
    return dict(process.header), tables, dict(process.texts), process.torn


def test_what_was_written_is_read(on_disk):
    run = record.read(on_disk)
    assert run.meta == RUN.meta
    assert [as_plain(process) for process in run.processes] == [as_plain(process) for process in RUN.processes]


def test_reading_twice_gives_equal_runs(on_disk):
    first, second = record.read(on_disk), record.read(on_disk)
    assert [as_plain(process) for process in first.processes] == [as_plain(process) for process in second.processes]
    assert (first.meta, first.samples, first.sources) == (second.meta, second.samples, second.sources)


def test_a_file_cut_anywhere_is_read_up_to_its_last_whole_record(on_disk):
    file = main_file(on_disk)
    whole = file.read_bytes()
    records = len(whole) // RECORD_BYTES
    for cut in range(RECORD_BYTES, len(whole) + 1, 37):
        file.write_bytes(whole[:cut])
        process = record.read_process(file)
        read = sum(len(next(iter(table.values()))) for table in process.tables.values())
        kinds = np.frombuffer(whole[: cut // RECORD_BYTES * RECORD_BYTES], "<i8").reshape(-1, 16)[:, 0]
        assert read == int((kinds > KIND_OF["text"]).sum())
        assert process.torn == (cut % RECORD_BYTES > 0)
    assert records > 10


@pytest.mark.parametrize("content", [b"", b"short", b"\0" * RECORD_BYTES, b"GIF89a" * 100], ids=repr)
def test_a_file_that_is_none_of_ours_is_left_out_and_said_so(on_disk, content):
    (on_disk / "records" / "main-1-1.bin").write_bytes(content)
    run = record.read(on_disk)
    assert len(run.processes) == len(RUN.processes)
    assert [note["slug"] for note in run.meta.notes] == ["records-unreadable"]


def test_a_file_that_cannot_be_opened_is_left_out_and_said_so(on_disk):
    (on_disk / "records" / "workers-1-1.bin").mkdir()
    (on_disk / "samples").mkdir()
    (on_disk / "samples" / "machine.jsonl").mkdir()
    run = record.read(on_disk)
    assert len(run.processes) == len(RUN.processes)
    assert [note["slug"] for note in run.meta.notes] == ["records-unreadable"]
    assert run.samples["machine"].rows == ()


def test_a_workers_file_of_a_schema_that_does_not_exist_costs_itself(on_disk):
    (file,) = (on_disk / "records").glob("worker-*.bin")
    content = bytearray(file.read_bytes())
    content[16] = 99  # header: kind, magic, schema
    file.write_bytes(content)
    run = record.read(on_disk)
    assert [process.header["role"] for process in run.processes] == [0]
    assert [note["slug"] for note in run.meta.notes] == ["records-unreadable"]


def test_records_of_a_kind_from_the_future_are_counted(on_disk):
    with main_file(on_disk).open("ab") as file:
        file.write(RECORD.pack(9999, *range(15)))
    assert [process.torn for process in record.read(on_disk).processes if process.header["role"] == 0] == [1]


def test_a_newer_schema_is_refused(on_disk):
    file = main_file(on_disk)
    content = bytearray(file.read_bytes())
    content[16] = 99  # header: kind, magic, schema
    assert RECORD.unpack(content[:RECORD_BYTES])[0] == HEADER
    file.write_bytes(content)
    with pytest.raises(LoaderDoctorError) as error:
        record.read(on_disk)
    assert error.value.slug == "run-too-new"


@pytest.mark.parametrize(
    ("run_json", "slug"),
    [
        (None, "not-a-run"),
        ("", "not-a-run"),
        ("{", "not-a-run"),
        ("[]", "not-a-run"),
        ('{"schema": "loaderdoctor.run/1", "id": "1"}', "not-a-run"),
        ('{"schema": "loaderdoctor.run/2"}', "run-too-new"),
    ],
)
def test_a_folder_without_a_run_is_refused(tmp_path, run_json, slug):
    if run_json is not None:
        (tmp_path / "run.json").write_text(run_json)
    with pytest.raises(LoaderDoctorError) as error:
        record.read(tmp_path)
    assert error.value.slug == slug


def test_a_run_without_any_process_is_a_run(tmp_path):
    record.write_meta(tmp_path, RUN.meta)
    assert record.read(tmp_path).processes == ()


@pytest.mark.parametrize("text", ["", "a", "x" * TEXT_BYTES, "y" * (TEXT_BYTES + 1), "größer, 更大 " * 40])
def test_texts_of_any_length_come_back(tmp_path, text):
    records = builders.Records(1)
    number = records.text(text)
    run = builders.run_of([records.done()], ended_s=1)
    assert record.read(builders.write(run, tmp_path / "run")).processes[0].texts == {number: text}


def test_a_text_whose_last_part_is_missing_is_left_out(tmp_path):
    records = builders.Records(1)
    records.text("short")
    records.text("long" * TEXT_BYTES)
    run_dir = builders.write(builders.run_of([records.done()], ended_s=1), tmp_path / "run")
    file = main_file(run_dir)
    file.write_bytes(file.read_bytes()[:-RECORD_BYTES])
    assert list(record.read(run_dir).processes[0].texts.values()) == ["short"]


def test_samples_are_read_up_to_the_last_whole_line(on_disk):
    (on_disk / "samples").mkdir()
    (on_disk / "samples" / "machine.jsonl").write_text('{"at_ns": 1, "busy": 2}\n[]\n{"at_ns": 2}\n{"at_n')
    samples = record.read(on_disk).samples
    assert {name: rows.rows for name, rows in samples.items()} == {
        "machine": ({"at_ns": 1, "busy": 2}, {"at_ns": 2}),
    }


@pytest.mark.parametrize(
    ("most_bytes", "numbers"),
    [(1000, [0, 1, 2, 3, 4, 5, 6]), (40, [0, 3, 6]), (60, [0, 2, 4, 6]), (25, [0, 4, 6])],
    ids=["whole", "one in three", "one in two", "one in four, and the last"],
)
def test_of_a_weeks_samples_one_row_in_so_many_is_read_and_the_last(on_disk, monkeypatch, most_bytes, numbers):
    monkeypatch.setattr(reader, "MOST_SAMPLES_BYTES", most_bytes)
    (on_disk / "samples").mkdir()
    (on_disk / "samples" / "machine.jsonl").write_text("".join(f'{{"at_ns": {number}}}\n' for number in range(7)))  # 84
    assert [row["at_ns"] for row in record.read(on_disk).samples["machine"].rows] == numbers


def test_samples_that_none_were_written_of_are_none(on_disk):
    (on_disk / "samples").mkdir()
    (on_disk / "samples" / "machine.jsonl").touch()
    assert record.read(on_disk).samples["machine"].rows == ()


def test_sources_are_read(on_disk):
    (on_disk / "sources.json").write_text(json.dumps({"/a/train.py": "import torch\n"}))
    assert record.read(on_disk).sources == {"/a/train.py": "import torch\n"}


@pytest.mark.parametrize("content", ["[]", "{", "null"])
def test_sources_that_cannot_be_read_are_none(on_disk, content):
    (on_disk / "sources.json").write_text(content)
    assert record.read(on_disk).sources == {}


def test_run_json_is_replaced_whole(tmp_path):
    record.write_meta(tmp_path, RUN.meta)
    record.write_meta(tmp_path, RUN.meta)
    assert record.read_meta(tmp_path) == RUN.meta
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]
