"""Numbers as people read them."""

import pytest

from loaderdoctor.report import figures
from loaderdoctor.values import Interval, Measured, Missing


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 %"),
        (0.0004, "< 0.1 %"),
        (0.012, "1.2 %"),
        (0.05, "5 %"),
        (0.0994, "9.9 %"),
        (0.0996, "10 %"),
        (0.583, "58 %"),
        (1, "100 %"),
    ],
)
def test_shares(value, text):
    assert figures.share(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 s"),
        (2e-8, "0.02 µs"),
        (3.456e-6, "3.46 µs"),
        (0.00579, "5.79 ms"),
        (0.193, "193 ms"),
        (1.256, "1.26 s"),
        (90, "90 s"),
        (130, "2.17 min"),
        (7260, "2.02 h"),
        (-0.5, "-0.5 s"),
    ],
)
def test_durations(value, text):
    assert figures.seconds(value) == text


def test_both_ends_of_a_duration_have_one_unit():
    assert figures.seconds_range(0.0778, 0.101) == "77.8–101 ms"
    assert figures.seconds_range(0.9, 1.1) == "0.9–1.1 s"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (512, "512 B"), (2048, "2 KiB"), (1.35e9, "1.26 GiB"), (3 << 40, "3 TiB"), (-(2 << 20), "-2 MiB")],
)
def test_sizes(value, text):
    assert figures.size(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(1, "1.00×"), (1.034, "1.03×"), (2.29, "2.3×"), (12.4, "12×"), (0.44, "0.44×")]
)
def test_factors(value, text):
    assert figures.times(value) == text


def test_ranges():
    assert figures.times_range(Interval(1.91, 2.3, 2.48)) == "1.9–2.5×"
    assert figures.share_range(Interval(0.0512, 0.07, 0.1)) == "5.1–10 %"


@pytest.mark.parametrize(
    ("unit", "text"),
    [
        ("share", "97 %"),
        ("share of time", "97 %"),
        ("s", "970 ms"),
        ("cpus", "0.97 cpus"),
        ("", "0.97"),
        ("bytes/s", "0.97 B/s"),
        ("times", "0.97×"),
    ],
)
def test_quantities_by_unit(unit, text):
    assert figures.quantity(0.97, unit) == text


def test_cells_tell_zero_from_missing():
    assert figures.cell(Measured.exact(0, "s")) == "0 s"
    assert figures.cell(Missing("no-workers", "There are none.")) == "–"


@pytest.mark.parametrize(("value", "top"), [(0.0, 1), (0.183, 0.2), (0.2, 0.2), (0.21, 0.25), (3, 5), (7, 10)])
def test_the_top_of_an_axis(value, top):
    assert figures.nice_ceiling(value) == pytest.approx(top)
