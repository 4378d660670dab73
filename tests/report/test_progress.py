"""What a terminal is told while the script runs, on lines of any width."""

import pytest

from loaderdoctor.record.glance import Glance
from loaderdoctor.report.progress import first_report, progress

S = 1_000_000_000


def said(*, width=100, lang="en", at_s=60, steps=None, seconds=None, share=0.583, on_device=False, made=600):
    seen = Glance(made, 0, 60 * S, share, on_device)
    return progress(seen, at_s * S, steps=steps, seconds=seconds, lang=lang, width=width)


@pytest.mark.parametrize(
    ("how", "line"),
    [
        ({}, "600 steps so far, waiting for data 58 % of the time"),
        ({"made": 1}, "1 step so far, waiting for data 58 % of the time"),
        ({"share": None}, "600 steps so far"),
        ({"share": 1.2}, "600 steps so far, waiting for data 100 % of the time"),
        ({"on_device": True}, "600 steps so far, the device waits for data 58 % of the time"),
        ({"seconds": 90}, "600 steps so far, waiting for data 58 % of the time, 30 s left"),
        ({"seconds": 30}, "600 steps so far, waiting for data 58 % of the time, 0 s left"),
        ({"steps": 900}, "600 steps so far, waiting for data 58 % of the time, 40 s left"),
        ({"steps": 100}, "600 steps so far, waiting for data 58 % of the time, 0 s left"),
        ({"steps": 9000, "seconds": 90}, "600 steps so far, waiting for data 58 % of the time, 30 s left"),
        ({"lang": "zh"}, "目前 600 步，58 % 的时间在等待数据".replace("，", ", ")),
    ],
)
def test_the_line(how, line):
    assert said(**how) == line


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (60, "600 steps so far, waiting for data 58 % of the time"),
        (50, "600 steps so far"),
        (16, "600 steps so far"),
        (9, ""),
        (0, ""),
    ],
)
def test_what_does_not_fit_is_left_out(width, line):
    assert said(width=width, seconds=90) == line


@pytest.mark.parametrize(("width", "pieces"), [(40, 2), (34, 2), (33, 1), (11, 1)])
def test_ideographs_take_two_columns(width, pieces):
    assert said(width=width, lang="zh").count(", ") == pieces - 1


@pytest.mark.parametrize(("width", "says_more"), [(80, True), (20, False)])
def test_where_the_first_report_is(width, says_more):
    line = first_report("runs/a/report.html", "en", width)
    assert line.endswith("runs/a/report.html")
    assert (line != "runs/a/report.html") == says_more
