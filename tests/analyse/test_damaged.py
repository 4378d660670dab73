"""Runs with damaged files: a diagnosis or an error that says what is wrong, never anything else."""

from __future__ import annotations

import json
import random
import warnings

import builders
import numpy as np
import pytest

from loaderdoctor import pipeline
from loaderdoctor.analyse import signals_of
from loaderdoctor.errors import LoaderDoctorError
from loaderdoctor.launch import ending
from loaderdoctor.probe.layout import KINDS, RECORD_BYTES

RUN = builders.run_from(
    "x[" + "wwc" * 20 + "]{wcwc}[" + "wwc" * 8 + "]x", num_workers=1, device=[(0.01, 0.001, 0.03)] * 28
)
SEEDS = range(5)
WORDS = RECORD_BYTES // 8
EXTREMES = (-1, 0, 1, -5, 10**12, 2**31, 2**63 - 1, -(2**63))
ODD_VALUES = (None, True, 2**70, 0.5, "x", [5], {"a": []})


@pytest.fixture
def on_disk(tmp_path):
    return builders.write(RUN, tmp_path / "run")


def files_of(run_dir):
    return sorted((run_dir / "records").glob("*.bin"))


def diagnosed(run_dir):
    """The status of the run, or the slug of the error that says why it has none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of pandas, of numbers that are none
        try:
            return pipeline.diagnose(run_dir).diagnosis.status
        except LoaderDoctorError as error:
            return error.slug


def cut(chance, content):
    return content[: chance.randrange(len(content))]


def overwritten(chance, content):
    begin = chance.randrange(len(content))
    length = min(chance.choice([8, 100, 1000, len(content)]), len(content) - begin)
    return content[:begin] + chance.randbytes(length) + content[begin + length :]


def flipped(chance, content):
    flipped = bytearray(content)
    for _ in range(chance.choice([1, 10, 100])):
        flipped[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return bytes(flipped)


def extreme(chance, content):
    rows = np.frombuffer(content, "<i8").reshape(-1, WORDS).copy()
    for _ in range(chance.choice([1, 5, 50])):
        rows[chance.randrange(len(rows)), chance.randrange(1, WORDS)] = chance.choice(EXTREMES)
    return rows.tobytes()


def of_other_kinds(chance, content):
    rows = np.frombuffer(content, "<i8").reshape(-1, WORDS).copy()
    for _ in range(chance.choice([1, 5, 50])):
        rows[chance.randrange(1, len(rows)), 0] = chance.randrange(-1, max(KINDS) + 2)
    return rows.tobytes()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("damage", [cut, overwritten, flipped, extreme, of_other_kinds])
def test_record_files_of_any_content(damage, seed, on_disk):
    chance = random.Random(seed)  # the same every time
    for file in chance.sample(files_of(on_disk), chance.choice([1, 2])):
        file.write_bytes(damage(chance, file.read_bytes()))
    assert diagnosed(on_disk) in {"starving", "healthy", "unknown", "not-enough-data", "run-too-new"}
    ending.gather_sources(on_disk, ending.main_processes(on_disk))  # what the parent does as soon as a script has ended


@pytest.mark.parametrize("field", sorted(json.loads(json.dumps(vars(RUN.meta)))))
def test_a_run_json_of_wrong_types(field, on_disk):
    path = on_disk / "run.json"
    whole = json.loads(path.read_text())
    slugs = set()
    for value in ODD_VALUES:
        path.write_text(json.dumps(whole | {field: value}))
        slugs.add(diagnosed(on_disk))
    assert slugs <= {"starving", "not-a-run"}
    assert slugs >= ({"not-a-run"} if field != "ended_by" else {"starving"})


@pytest.mark.parametrize(
    "environment", [{"missing": 5}, {"cpus_allowed": "all"}, {"memory_limit_bytes": []}, {"a": {}}]
)
def test_facts_of_the_machine_that_are_none(environment, on_disk):
    path = on_disk / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"environment": environment}))
    assert diagnosed(on_disk) == "starving"


def test_notes_that_are_none_leave_the_others(on_disk):
    path = on_disk / "run.json"
    notes = [5, {"slug": "a"}, {"slug": "odd", "text": "A sentence."}, {"slug": 1, "text": 2}]
    path.write_text(json.dumps(json.loads(path.read_text()) | {"notes": notes}))
    told = pipeline.diagnose(on_disk).signals.notes
    assert [slug for slug, _ in told] == ["note-unreadable", "note-unreadable", "odd", "note-unreadable"]


SETTINGS = ["", "{", "5", "[]", "null", '{"batch_size": "many"}', '{"num_workers": [2], "prefetch_factor": {}}', "\0"]


@pytest.mark.parametrize("text", SETTINGS)
def test_settings_that_are_none_are_said_and_leave_the_verdict(text):
    run = builders.run_from("[" + "wwc" * 30)
    (main,) = run.processes
    (number,) = main.tables["loader"]["settings_text"]
    main.texts[number] = text
    signals = signals_of(run)
    assert signals.starved_share.value > 0.5
    assert "loader 1: " in dict(signals.notes)["settings-unreadable"]


@pytest.mark.parametrize("text", ["", "{", "[]", "5", '{"cuda": []}'])
def test_what_a_process_says_of_itself_may_be_nothing(text):
    run = builders.run_from("[" + "wwc" * 30, device=[(0.01, 0.001, 0.03)] * 30)
    (main,) = run.processes
    (number,) = main.tables["process"]["about_text"]
    main.texts[number] = text
    assert signals_of(run).device.kind == "accelerator"


ROWS = [
    "null",
    "5",
    "{}",
    '{"at_ns": "now"}',
    '{"at_ns": 5}',
    '{"at_ns": 1000000000000, "processes": 5, "mounts": 7}',
    "{",
]


@pytest.mark.parametrize("name", ["machine", "processes", "disks", "cgroup", "shm", "gpu", "odd"])
def test_samples_of_any_content(name, on_disk):
    (on_disk / "samples").mkdir()
    (on_disk / "samples" / f"{name}.jsonl").write_text("\n".join(ROWS * 2))
    assert diagnosed(on_disk) == "starving"
