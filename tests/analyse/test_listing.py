"""Code that looks through files, told by the stacks of making batches."""

from __future__ import annotations

import pandas as pd
import pytest

from loaderdoctor.analyse.listing import listing_of
from loaderdoctor.analyse.signals import Site
from loaderdoctor.values import Missing

LIB, DATA = "/usr/lib/python3.11", "/home/user/data.py"
ITER = ("Photos.__iter__", DATA, 30)


def stacks(*rows):
    """(frames, CPU time) of each."""
    frames = [list(found) for found, _ in rows]
    return pd.DataFrame({"frames": frames, "cpu_ns": [cpu for _, cpu in rows], "samples": 10})


@pytest.mark.parametrize(
    ("listing", "line"),
    [
        ([("walk", f"{LIB}/os.py", 300), ("Photos.scan", DATA, 12), ITER], 12),
        ([("_walk", "<frozen os>", 300), ("Photos.scan", DATA, 12), ITER], 12),
        ([("getsize", "<frozen genericpath>", 50), ("Photos.scan", DATA, 12), ITER], 12),
        ([("Path.stat", f"{LIB}/pathlib.py", 9), ("Photos.scan", DATA, 12), ITER], 12),
        ([("_select_from", f"{LIB}/pathlib.py", 9), ("Photos.scan", DATA, 12), ITER], 12),
        ([("posix.scandir", DATA, 12), ("Photos.scan", DATA, 12), ITER], 12),
        ([("load", f"{LIB}/json/__init__.py", 9), ("Photos.scan", DATA, 12), ITER], 12),
        ([("_iglob", f"{LIB}/glob.py", 9), ITER], 30),
    ],
    ids=["walk", "frozen", "sizes", "stat", "rglob", "in C", "an index", "within __iter__"],
)
def test_what_lists_is_found_at_the_code_that_asks_for_it(listing, line):
    share, site = listing_of(stacks((listing, 30), ([("decode", DATA, 50), ("Photos.__iter__", DATA, 40)], 70)))
    assert share.value == pytest.approx(0.3)
    assert site == Site(DATA, line)


def test_a_function_that_lists_is_counted_with_all_that_it_calls():
    scan = ("Photos.scan", DATA, 14)
    rows = [
        ([("walk", f"{LIB}/os.py", 300), ("Photos.scan", DATA, 12), ITER], 10),
        ([("open", "/site-packages/PIL/Image.py", 9), scan, ITER], 40),
        ([("open", "/site-packages/PIL/Image.py", 9), ("Photos.__iter__", DATA, 40)], 50),
    ]
    share, _ = listing_of(stacks(*rows))
    assert share.value == pytest.approx(0.5)


@pytest.mark.parametrize(
    "frames",
    [
        [("walk", "/site-packages/trees/os.py", 3), ITER],
        [("walk", DATA, 3), ITER],
        [("stat", "/home/user/paths.py", 3), ITER],
        [("decompress", f"{LIB}/bz2.py", 3), ITER],
    ],
    ids=["another os.py", "a walk of one's own", "a stat of one's own", "something else"],
)
def test_other_functions_of_that_name_list_nothing(frames):
    share, site = listing_of(stacks((frames, 10)))
    assert (share.value, site) == (0.0, None)


def test_without_stacks_nothing_is_said():
    empty = pd.DataFrame({"frames": [], "cpu_ns": [], "samples": []})
    value, site = listing_of(empty)
    assert isinstance(value, Missing)
    assert site is None
