"""Stretches of a run, joined: drawn as a row of characters, one a nanosecond, `x` for what is looked at."""

from __future__ import annotations

import numpy as np
import pytest

from loaderdoctor.record.stretches import Stretches


def drawn(row):
    padded = f".{row}."
    begins = [k for k in range(1, len(padded)) if padded[k] == "x" != padded[k - 1]]
    ends = [k for k in range(1, len(padded)) if padded[k - 1] == "x" != padded[k]]
    return Stretches.of(list(zip(begins, ends, strict=True)))  # the first character is at 1: 0 stands for no time


@pytest.mark.parametrize(
    ("row", "joined"),
    [
        ("xxxxxx", "123456"),
        ("xx..xx", "123334"),
        ("x.x.x.", "122334"),
    ],
)
def test_times_lose_the_gaps_before_them(row, joined):
    assert "".join(map(str, drawn(row).joined(np.arange(1, 7)))) == joined


def test_no_time_stays_no_time():
    assert drawn("xx..xx").joined(np.array([0, -1])).tolist() == [0, -1]


@pytest.mark.parametrize("row", ["xxxxxx", "xx..xx", "x.x.xx"])
def test_a_joined_time_is_found_again(row):
    stretches = drawn(row)
    for time in np.flatnonzero(np.array(list(row)) == "x") + 1:
        assert stretches.apart(int(stretches.joined(np.array([time]))[0])) == time


def test_a_time_in_a_gap_has_no_place_and_one_before_all_belongs_to_the_first():
    assert drawn(".xx..xx.").place(np.arange(1, 9)).tolist() == [0, 0, 0, -1, -1, 1, 1, -1]


def test_what_is_in_both():
    assert drawn("xxx.xxxx").common(drawn(".xxxx..x")).spans == drawn(".xx.x..x").spans
    assert drawn("xx....").common(drawn("..xxxx")).spans == []
    assert drawn("xxxxxx").common(drawn("x.x.x.")).spans == drawn("x.x.x.").spans


@pytest.mark.parametrize("parts", [2, 5, 10])
@pytest.mark.parametrize("row", ["x" * 1000, ("x" * 50 + "." * 70) * 20])
def test_even_parts_are_a_share_of_the_whole_from_its_first_moment_to_its_last(row, parts):
    whole = drawn(row)
    some = whole.evenly(0.1, parts)
    assert some.length_ns == pytest.approx(0.1 * whole.length_ns, abs=parts)
    assert (some.begin_ns[0], some.end_ns[-1]) == (whole.begin_ns[0], pytest.approx(whole.end_ns[-1], abs=1))
    assert some.common(whole).spans == some.spans
