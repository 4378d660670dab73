"""What is done beside a run, and when: with a clock, reports and a terminal that are drawn."""

import threading

import pytest

from loaderdoctor.live import Pace, beside
from loaderdoctor.live.rendering import NOT_YET, WRITTEN, Done
from loaderdoctor.record.glance import Glance

PACE = Pace(share=0.01, first_s=100, least_s=60, steps=25)


class Reports:
    """Reports that take no time; `ends` is how each comes out."""

    def __init__(self, ends):
        self.ends = list(ends)
        self.begun = 0
        self.is_running = False
        self.was_ended = threading.Event()

    def begin(self):
        self.begun += 1
        self.is_running = True

    def done(self):
        self.is_running = False
        return self.ends.pop(0)

    def end(self):
        self.was_ended.set()


class Screen:
    def __init__(self, width=100):
        self.width = width
        self.lines = []

    def say(self, line):
        self.lines.append(line)


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """A run with steps as they are told, and what came of looking at it so many seconds after its first batch."""

    def look(times_s, ends=(), steps=int, width=100):
        now = [0.0]
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(beside.Beside, "_glance", lambda _: Glance(steps(now[0]), 0, 1, 0.5, on_device=False))
        screen, reports = Screen(width), Reports(ends)
        one = beside.Beside(tmp_path / "run", pace=PACE, terminal=screen, now_ns=lambda: int(now[0] * 1e9))
        one._rendering = reports
        begun = []
        for at_s in times_s:
            now[0], before = at_s, reports.begun
            one.look(at_s)
            begun += [at_s] * (reports.begun - before)
        return begun, screen.lines

    return look


def every_second(until_s):
    return range(1, until_s + 1)


def test_the_first_report_waits_for_its_time_and_for_enough_steps(watched):
    assert watched(every_second(150), [Done(WRITTEN, 0.5)])[0] == [100]
    assert watched(every_second(300), [Done(WRITTEN, 1.5)], steps=lambda at_s: int(at_s / 10))[0] == [250]
    assert watched(every_second(300), steps=lambda _: 24)[0] == []


def test_the_next_ones_come_so_late_that_they_keep_to_their_share(watched):
    ends = [Done(WRITTEN, 0.5), Done(WRITTEN, 2.0), Done(WRITTEN, 2.0)]
    assert watched(every_second(500), ends)[0] == [100, 161, 362]


def test_where_there_is_no_verdict_yet_it_is_tried_again_and_nothing_is_said(watched):
    begun, lines = watched(every_second(240), [Done(NOT_YET, 0.1), Done(WRITTEN, 0.1), Done(WRITTEN, 0.1)])
    assert begun == [100, 161, 222]
    assert [line for line in lines if "report" in line] == [
        "a first report is there, renewed now and then: run/report.html"
    ]


def test_reports_that_fail_are_given_up(watched):
    assert watched(every_second(2000), [Done(1, 0.1)] * 9)[0] == [100, 161, 222]


def test_lines_come_at_growing_intervals(watched):
    _, lines = watched(every_second(1000), [Done(WRITTEN, 50)])
    assert [line.split()[0] for line in lines if "steps" in line] == ["10", "60", "300", "900"]


def test_nobody_is_told_where_there_is_no_terminal(watched):
    assert watched(every_second(1000), [Done(WRITTEN, 50)], width=0) == ([100], [])


def test_the_wait_for_the_script_is_not_held_up_by_a_look_that_hangs(tmp_path, monkeypatch):
    hangs = threading.Event()
    monkeypatch.setattr(beside, "PATIENCE_S", 0.01)
    monkeypatch.setattr(beside.Beside, "_glance", lambda _: hangs.wait() and None)
    one = beside.Beside(tmp_path, pace=Pace(poll_s=0.001), terminal=Screen())
    one._rendering = Reports(())
    with one:
        pass
    assert not hangs.is_set()
    assert one._rendering.was_ended.is_set()
    hangs.set()


def test_a_fault_in_it_ends_it_and_nothing_else(tmp_path, monkeypatch):
    def fails(_):
        raise ZeroDivisionError

    monkeypatch.setattr(beside.Beside, "_glance", fails)
    one = beside.Beside(tmp_path, pace=Pace(poll_s=0.001), terminal=Screen())
    one._rendering = Reports(())
    with one:
        assert one._rendering.was_ended.wait(10)
