"""Where stacks and sources say that a loader opens, reads and waits; and how passes differ."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from builders import exact

from loaderdoctor.analyse.reads import passes_of, reads_of, sampled
from loaderdoctor.analyse.signals import Site
from loaderdoctor.values import Measured, Missing

TRAIN = "/home/user/train.py"
SCRIPT = """\
def __getitem__(self, i):
    with zipfile.ZipFile(self.path) as archive:
        raw = archive.read(self.names[i])
    text = self.files[i].read_text().split()
    picture = Image.open(io.BytesIO(raw)).convert("RGB")
    other = zipfile.ZipFile(self.paths[i])
    own = Archive(self.path)
    db = sqlite3.connect(self.path)
    body = self.connection.getresponse().read()
    plain = open(self.path)
    return np.load(self.files[i])[:10]
"""
IN_ITEM = ["Pages.__getitem__", TRAIN]
SHARES = (exact(0.8), exact(0.2))


def stacks(*seen):
    """(frames above the item's line, its line, CPU ms, blocked ms) each."""
    rows = [
        (json.dumps([*[[name, file, 1] for name, file in above], [*IN_ITEM, line]]), cpu * 10**6, blocked * 10**6, 1)
        for above, line, cpu, blocked in seen
    ]
    return sampled(pd.DataFrame(rows, columns=["stack_text", "cpu_ns", "blocked_ns", "samples"]))


def reads(*seen, shares=SHARES, sources=None):
    return reads_of(stacks(*seen), {TRAIN: SCRIPT} if sources is None else sources, shares)


ZIP = [("ZipInfo.__init__", "/lib/zipfile.py"), ("ZipFile.__init__", "/lib/zipfile.py")]


def test_a_reader_that_is_the_same_for_every_sample_is_opened_again():
    found = reads((ZIP, 2, 60, 0), ([], 5, 20, 0), shares=(exact(1.0), exact(0.0)))
    assert found.opening_share.value == pytest.approx(0.75)
    assert (found.opening_site, found.opening_call) == (Site(TRAIN, 2), "zipfile.ZipFile")


@pytest.mark.parametrize(
    ("above", "line", "opens", "why"),
    [
        (ZIP, 2, True, "a constructor of a library"),
        (ZIP, 6, False, "each sample has its own"),
        ([("Archive.__init__", TRAIN)], 7, True, "a class of the script's own"),
        ([("sqlite3.connect", TRAIN)], 8, True, "a function written in C"),
        ([("ZipFile.read", "/lib/zipfile.py")], 2, False, "another function at the same line"),
        ([], 10, False, "to open a plain file takes no time"),
    ],
)
def test_what_counts_as_opening(above, line, opens, why):
    assert (reads((above, line, 10, 0)).opening_site is not None) == opens, why


@pytest.mark.parametrize(
    ("above", "line", "is_read", "why"),
    [
        ([("ZipExtFile.read", "/lib/zipfile.py")], 3, True, "a member of an archive"),
        ([], 4, True, "all of the line, what it does with the text as well"),
        ([("ImageFile.load", "/lib/PIL/ImageFile.py")], 5, False, "decoded"),
        ([], 5, False, "decoded, by a function written in C"),
        ([], 11, True, "a file of numbers"),
        (ZIP, 2, False, "opened"),
        ([("Dataset.__getitem__", "/site-packages/h5py/_hl/dataset.py")], 7, True, "chunks that indexing unpacks"),
        ([("Dataset.__getitem__", "/site-packages/elsewhere/data.py")], 7, False, "a method of the same name"),
    ],
)
def test_what_counts_as_reading(above, line, is_read, why):
    assert (reads((above, line, 10, 0)).reading_site is not None) == is_read, why


def test_time_on_the_cpu_and_waits_count_by_their_parts_of_the_making():
    found = reads(([], 4, 30, 0), ([], 5, 10, 0), ([], 9, 0, 5))
    assert found.reading_share.value == pytest.approx(0.8 * 0.75 + 0.2 * 1.0)
    assert found.waiting_site == Site(TRAIN, 9)


def test_without_stacks_or_sources_there_is_a_reason():
    assert isinstance(reads().opening_share, Missing)
    assert reads(([], 4, 10, 0), sources={}).reading_share.slug == "no-source"


def made(*batches):
    rows = [
        {"loop": loop, "wall_ns": ms * 1e6, "read_chars": 100.0, "read_bytes": from_disk, "blocks_in": 0.0}
        for loop, ms, from_disk in batches
    ]
    return pd.DataFrame(rows)


def steps(*waits):
    return pd.DataFrame([{"loop": loop, "exposed_ns": wait * 1e6, "measured": True} for loop, wait in waits])


def test_the_first_pass_is_held_against_later_ones():
    found = passes_of(made(*[(0, 30, 100.0)] * 8, *[(1, 10, 0.0)] * 8), steps((0, 9.0), (1, 1.0)))
    assert [found.first_made_s.value, found.later_made_s.value] == pytest.approx([0.03, 0.01])
    assert [found.first_from_disk.value, found.later_from_disk.value] == pytest.approx([1.0, 0.0])
    assert found.first_wait_share.value == pytest.approx(0.9)


def test_one_pass_and_passes_that_hardly_began_say_nothing():
    only = passes_of(made(*[(0, 30, 0.0)] * 8, (1, 10, 0.0)), steps((0, 1.0)))
    assert isinstance(only.first_made_s, Missing)


def test_a_run_without_batches_says_nothing():
    assert isinstance(passes_of(made(*[(0, 1, 0.0)] * 2).iloc[:0], steps((0, 1.0))).first_made_s, Missing)


def test_passes_that_do_not_wait_have_no_share():
    found = passes_of(made(*[(0, 30, 0.0)] * 8, *[(1, 10, 0.0)] * 8), steps((0, 0.0), (1, 0.0)))
    assert isinstance(found.first_wait_share, Missing)
    assert isinstance(found.first_made_s, Measured)
