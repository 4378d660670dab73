"""The stacks tell where CPU time goes and where batches wait, on work whose split is known by construction."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections import Counter

import pytest
from probe_recorder import MS, Recorder, burn

from loaderdoctor.probe import profiled, stacks


@pytest.fixture
def recorder():
    previous = signal.getsignal(signal.SIGPROF)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    stacks.sampler = stacks.Sampler()
    yield Recorder()
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, previous)


def python_code(ms):
    burn(ms)


def holds_the_gil(ms):
    """Long calls that hold the GIL, in which no signal is handled before they end."""
    end = time.thread_time_ns() + ms * MS
    while time.thread_time_ns() < end:
        sorted(range(300_000, 0, -1), key=abs)


def lets_the_gil_go():
    time.sleep(0.03)


def shares(recorder, field):
    total = Counter()
    for row in recorder.rows_of("stack"):
        functions = [frame[0] for frame in json.loads(recorder.texts[row["stack_text"]])]
        name = next((f for f in functions if f in {"python_code", "holds_the_gil", "lets_the_gil_go"}), "other")
        total[name] += row[field]
    whole = sum(total.values())
    return {name: value / whole for name, value in total.items()}


def test_cpu_time_is_told_apart_even_where_calls_hold_the_gil(recorder):
    stacks.start()
    for _ in range(36):
        python_code(20)
        holds_the_gil(60)
    stacks.stop(recorder, 0)
    told = shares(recorder, "cpu_ns")
    assert told["python_code"] == pytest.approx(0.25, abs=0.08)
    assert told["holds_the_gil"] == pytest.approx(0.75, abs=0.08)


def test_in_the_main_process_only_fetches_count(recorder):
    for _ in range(6):
        stacks.fetch_began()
        python_code(40)
        stacks.fetch_ended(recorder)
        holds_the_gil(20)
    stacks.stop(recorder, -1)
    told = shares(recorder, "cpu_ns")
    assert told["python_code"] > 0.9
    assert "holds_the_gil" not in told


def test_a_script_that_has_sigprof_keeps_it(recorder):
    def mine(signum, frame):
        pass

    signal.signal(signal.SIGPROF, mine)
    stacks.start()
    python_code(40)
    stacks.stop(recorder, 0)
    assert signal.getsignal(signal.SIGPROF) is mine
    assert recorder.rows == []


def test_a_script_that_takes_sigprof_later_keeps_its_timer(recorder):
    stacks.fetch_began()
    stacks.fetch_ended(recorder)
    signal.signal(signal.SIGPROF, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_PROF, 5.0, 5.0)
    stacks.fetch_began()
    stacks.fetch_ended(recorder)
    assert signal.getitimer(signal.ITIMER_PROF)[1] == 5.0


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        (stacks.fetch_began, stacks.fetch_ended),
        (stacks.start, lambda recorder: stacks.tick(recorder, 0)),
        (stacks.start, lambda recorder: stacks.stop(recorder, 0)),
        (stacks.start, lambda _: stacks.rest()),
    ],
)
def test_a_script_that_takes_sigprof_while_a_batch_is_made_is_sent_no_more_of_it(recorder, begin, end):
    begin()
    signal.signal(signal.SIGPROF, signal.SIG_IGN)  # back to SIG_DFL would end the process at the next one
    end(recorder)
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGPROF) is signal.SIG_IGN


@pytest.mark.parametrize("end", [stacks.fetch_ended, lambda recorder: stacks.tick(recorder, 0)])
def test_a_timer_that_the_script_sets_while_a_batch_is_made_goes_on(recorder, end):
    stacks.fetch_began()
    signal.signal(signal.SIGPROF, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_PROF, 5.0, 5.0)
    end(recorder)
    assert signal.getitimer(signal.ITIMER_PROF)[1] == 5.0


def test_other_threads_leave_the_timer_to_the_main_one(recorder):
    def batch_of_another_thread():
        stacks.fetch_began()
        python_code(5)
        stacks.fetch_ended(recorder)
        seen.append(signal.getitimer(signal.ITIMER_PROF)[1] > 0)

    seen = []
    stacks.fetch_began()
    in_a_thread(batch_of_another_thread)  # while a batch of the main thread is being made
    stacks.fetch_ended(recorder)
    in_a_thread(batch_of_another_thread)  # and while there is none
    assert seen == [True, False]


def in_a_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_our_own_wrappers_are_not_in_the_stacks():
    code = compile("pass", "/x/_importlib_bootstrap/fetch.py", "exec")
    mine = compile("pass", "/x/train.py", "exec")
    assert json.loads(stacks.describe(((code, 1), (mine, 7)))) == [["<module>", "/x/train.py", 7]]


def test_code_that_is_made_anew_each_time_leaves_a_bounded_number_of_texts(recorder, monkeypatch):
    monkeypatch.setattr(stacks, "MOST_TOLD", 3)
    codes = [compile(f"x = {number}", f"/x/made_{number}.py", "exec") for number in range(6)]
    for batch in [[0, 1], [1, 2, 3], [4, 5, 0]]:
        stacks.sampler.seen = {((codes[number], 1),): [10, 1] for number in batch}
        stacks.sampler.flush(recorder, 0)
    told = [json.loads(recorder.texts[row["stack_text"]])[0][1] for row in recorder.rows_of("stack")]
    assert told == [f"/x/made_{number}.py" for number in (0, 1, 1, 2, 0)]


def fetch_for(recorder, batches, make, worker=2):
    profiled._due.__init__()
    for _ in range(batches):
        profiled.batch_began()
        make()
        profiled.batch_ended(recorder, worker)


def innermost(recorder, field):
    row = max(recorder.rows_of("stack"), key=lambda row: row[field])
    return [frame[0] for frame in json.loads(recorder.texts[row["stack_text"]])[:2]]


def waits_a_while():
    python_code(2)
    lets_the_gil_go()


def test_the_line_in_which_a_batch_waits_is_named(recorder):
    fetch_for(recorder, profiled.FIRST_AFTER + 1, waits_a_while)
    assert sys.getprofile() is None
    assert innermost(recorder, "blocked_ns") == ["time.sleep", "lets_the_gil_go"]
    rows = recorder.rows_of("stack")
    assert sum(row["blocked_ns"] for row in rows) >= 30 * MS
    assert all(row["cpu_ns"] == 0 for row in rows), "the timer tells a worker's CPU time"


def python_loop():
    for _ in range(200_000):
        pass


def test_short_batches_of_the_main_process_are_told_by_profiled_ones(recorder):
    fetch_for(recorder, profiled.FIRST_AFTER + 1, python_loop, worker=-1)
    assert innermost(recorder, "cpu_ns")[0] == "python_loop"
    told_ns = [row["cpu_ns"] for row in recorder.rows_of("stack")]
    assert max(told_ns) > 0.9 * sum(told_ns)


def test_the_next_profiled_batch_is_far_enough_to_cost_little(recorder):
    def make():
        lets_the_gil_go()
        for _ in range(4000):
            abs(-1)

    fetch_for(recorder, profiled.FIRST_AFTER + 1, make)
    cost_share = 8000 * profiled._event_ns[0] / (profiled._due.after * 30 * MS)
    assert profiled._due.after >= profiled.EVERY
    assert cost_share < 2 * profiled.MOST_COST


def test_a_profiler_of_the_script_is_left_alone(recorder):
    seen = []

    def mine(*event):
        seen.append(event[1])

    sys.setprofile(mine)
    try:
        fetch_for(recorder, profiled.FIRST_AFTER + 2, lets_the_gil_go)
        assert sys.getprofile() is mine
    finally:
        sys.setprofile(None)
    assert recorder.rows == []
    assert seen
