"""When a terminal gets a line, when the report is made anew, and what of the machine that takes."""

import pytest

from loaderdoctor.live.pace import Pace, next_line_s


@pytest.mark.parametrize(
    ("elapsed_s", "due_s"),
    [(0, 10), (9.9, 10), (10, 60), (61, 300), (301, 900), (901, 3600), (3600, 7200), (7300, 10_800), (90_000, 93_600)],
)
def test_lines_come_ever_more_seldom_and_then_every_hour(elapsed_s, due_s):
    assert next_line_s(elapsed_s) == due_s


def test_a_day_is_few_lines():
    lines, at_s = 0, next_line_s(0)
    while at_s <= 86_400:
        lines, at_s = lines + 1, next_line_s(at_s)
    assert lines == 28


@pytest.mark.parametrize(("spent_s", "again_s"), [(0.0, 60), (0.5, 60), (2.0, 200), (30.0, 3000)])
def test_reports_take_no_more_than_their_share(spent_s, again_s):
    assert Pace().again_s(spent_s) == pytest.approx(again_s)
    assert spent_s <= Pace().share * Pace().again_s(spent_s)


def test_the_first_report_keeps_to_the_share_too():
    assert Pace().share * Pace().first_s >= 2.0  # what a report of a short run takes
