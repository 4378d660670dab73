"""When --steps and --seconds end a script, and how."""

from __future__ import annotations

import signal
from types import SimpleNamespace

import pytest
from probing import main_of, run

from loaderdoctor.probe import stop
from loaderdoctor.probe._importlib_bootstrap import stopping
from loaderdoctor.probe.stop import NS, WHY_SECONDS, WHY_STEPS, StopRule

TRAIN, EVAL = 1, 2


def batches_until(rule, drawing, most=1000):
    """Batches given until the rule ends the script; a drawing repeats: t a training step, a one of accumulation, e eval."""
    for count in range(most):
        if rule.due(0) is not None:
            return count
        kind = drawing[count % len(drawing)]
        rule.delivered(EVAL if kind == "e" else TRAIN, 0)
        if kind == "t":
            rule.stepped()
    return None


@pytest.mark.parametrize(
    ("steps", "drawing", "batches"),
    [
        (9, "t", 9 + 3),  # a short run warms up for three steps
        (90, "t", 90 + 10),  # a longer one for a tenth of all
        (100, "t", 100 + 12),
        (9, "e", 9 + 3),  # nothing trains: every batch counts
        (9, "te", 2 * (9 + 3) - 1),  # evaluation does not count
        (9, "aaat", 9 + 3),  # accumulated batches are steps of the training loader
        (None, "t", None),
    ],
)
def test_steps_are_those_of_training_after_warm_up(steps, drawing, batches):
    assert batches_until(StopRule(steps, None), drawing) == batches


def test_seconds_count_from_the_first_batch():
    rule = StopRule(None, 2.5)
    assert rule.due(100 * NS) is None
    rule.delivered(TRAIN, 100 * NS)
    assert rule.due(102 * NS) is None
    assert rule.due(102 * NS + NS // 2) == WHY_SECONDS


SCRIPT = """
import atexit, sys, torch
from torch.utils.data import DataLoader, TensorDataset

atexit.register(lambda: print("atexit"))
data = TensorDataset(torch.randn(1000, 2))
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
with torch.no_grad():
    for _ in DataLoader(data, batch_size=10):
        pass
steps = 0
try:
    for _ in range(100):
        for (x,) in DataLoader(data, batch_size=100, num_workers=int(sys.argv[1])):
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
            steps += 1
except Exception:
    print("an Exception")
finally:
    print(steps)
"""


def test_a_rule_that_fails_ends_nothing():
    def changed(_now_ns, _loader):
        raise RuntimeError("Set changed size during iteration")

    writer = SimpleNamespace(control=SimpleNamespace(ended=False))
    probe = SimpleNamespace(is_worker=False, stop=SimpleNamespace(due=changed, is_asked_for=True), writer=writer)
    assert stopping.ends_here(SimpleNamespace(probe=probe, loader=TRAIN), 0) is None


def test_a_job_that_outlives_its_run_is_not_ended():
    writer = SimpleNamespace(control=SimpleNamespace(ended=True))
    rule = SimpleNamespace(due=lambda *_: WHY_STEPS, is_asked_for=True)
    probe = SimpleNamespace(is_worker=False, stop=rule, writer=writer)
    assert stopping.ends_here(SimpleNamespace(probe=probe, loader=TRAIN), 0) is None


@pytest.mark.parametrize("workers", ["0", "2"])
def test_the_script_ends_as_by_its_own_exit(tmp_path, workers):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT, encoding="utf-8")
    ended = run(script, tmp_path, workers, LOADERDOCTOR_STEPS="18")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines() == [str(18 + 3), "atexit"]
    assert [row["why"] for row in main_of(tmp_path).of("end")] == [WHY_STEPS]


def test_seconds_end_it_too(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT, encoding="utf-8")
    ended = run(script, tmp_path, "0", LOADERDOCTOR_SECONDS="0")
    assert ended.returncode == 0
    assert [row["why"] for row in main_of(tmp_path).of("end")] == [WHY_SECONDS]
    assert [row["status"] for row in main_of(tmp_path).of("next")] == [0, 1]


THREADED = """
import queue, sys, threading, torch
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(1000, 2))
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
batches = queue.Queue(2)

def fetch():
    for _ in range(int(sys.argv[2])):
        for batch in DataLoader(data, batch_size=100):
            batches.put(batch)
    batches.put(None)

threading.Thread(target=fetch, daemon=sys.argv[1] == "daemon").start()
steps = 0
try:
    for (x,) in iter(batches.get, None):
        model(x).sum().backward()
        optimizer.step()
        steps += 1
finally:
    print(steps < 100)
"""


@pytest.mark.parametrize(
    ("thread", "ends", "why", "notes"),
    [("daemon", True, WHY_STEPS, []), ("own", False, 0, ["stop-not-possible"])],
)
def test_a_script_that_takes_batches_in_a_thread_is_ended_where_that_leaves_no_thread_behind(
    tmp_path, thread, ends, why, notes
):
    script = tmp_path / "train.py"
    script.write_text(THREADED, encoding="utf-8")
    # Where a daemon's thread stands in torch's C++ code as the interpreter ends, the process aborts: the script alone, ended by
    # an exit of its own at the same step, does so one time in three.
    for attempt in range(8):
        run_dir = tmp_path / f"run-{attempt}"
        ended = run(script, run_dir, thread, "10", check=False, LOADERDOCTOR_STEPS="18")
        if (ended.returncode, ended.stderr) != (-signal.SIGABRT, "terminate called without an active exception\n"):
            break
    assert (ended.returncode, ended.stderr, ended.stdout.strip()) == (0, "", str(ends))
    main = main_of(run_dir)
    assert [row["why"] for row in main.of("end")] == [why]
    assert [row["slug_text"] for row in main.of("note") if row["slug_text"].startswith("stop")] == notes


class Page:
    """The page of a run, without a file."""

    def __init__(self):
        self.words = [0] * 16

    def word(self, index):
        return self.words[index]

    def set_word(self, index, value):
        self.words[index] = value


def test_ranks_end_after_the_same_optimizer_step(monkeypatch):
    """One rank began later, so that its seconds are up later; they are never more than a step apart."""
    monkeypatch.setattr(stop, "_ranks", lambda: 2)
    page = Page()
    rules = [StopRule(None, 1.0, page) for _ in range(2)]
    ended = {}
    for step in range(200):
        for rank in ((0, 1), (1, 0))[step % 2]:
            rule = rules[rank]
            now_ns = step * NS // 50 + rank * NS // 4
            if rank in ended:
                continue
            if rule.due(now_ns, TRAIN) is not None:
                ended[rank] = step
                continue
            rule.delivered(TRAIN, now_ns)
            rule.stepped()
            if step % 10 == 9 and rank == 0:  # an evaluation that only one rank runs ends nothing
                assert rule.due(now_ns, EVAL) is None
    assert ended[0] == ended[1]
    assert 50 <= ended[0] <= 50 + stop.MARGIN + 1
