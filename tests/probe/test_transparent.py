"""A script does the same with the probe as without: what it prints, draws, trains and warns."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from probing import main_of, run, workers_of

SCRIPTS = Path(__file__).parent / "scripts"
NUMBERS_OF_THE_RUN = re.compile(r"0x[0-9a-f]+|pid\(s\) [\d, ]+|pid=\d+")
# torch says one or the other of a worker that is gone, whichever of its two ways notices first.
WORKER_GONE = re.compile(
    r"worker leaves: (EOFError:  \| 0|RuntimeError: DataLoader worker .* exited unexpectedly \| 1) lines"
)
WARNING = re.compile(r"/\S+:\d+: \w*Warning: .*")


WORKER_KILLED = re.compile(r"worker is killed: (RuntimeError: DataLoader worker|ConnectionResetError:)[^|\n]*")


def masked(text):
    """Without numbers of the run, and without what torch hears first of a worker that goes: its end, or a broken connection."""
    return WORKER_KILLED.sub(
        "worker is killed: noticed", WORKER_GONE.sub("worker leaves: noticed", NUMBERS_OF_THE_RUN.sub("*", text))
    )


def warnings_of(process):
    # A worker is killed while it writes a traceback: the line may begin with a piece of it.  Torch's handler of a crash in a
    # worker ends its line with a NUL.
    lines = [WARNING.search(line.strip("\0")) for line in masked(process.stderr).splitlines()]
    # where an interrupt finds torch as it fetches a tensor, its socket stays open: with the probe or without, by chance
    return [line.group() for line in lines if line and "unclosed <socket.socket" not in line.group()]


@pytest.mark.slow
def test_odd_scripts_do_the_same_and_warn_of_the_same_lines(tmp_path):
    native = run(SCRIPTS / "edges.py")
    probed = run(SCRIPTS / "edges.py", tmp_path)
    assert masked(probed.stdout) == masked(native.stdout)
    assert warnings_of(probed) == warnings_of(native)
    assert len(warnings_of(native)) > 5
    assert len(workers_of(tmp_path)) > 20


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_batches_generators_and_parameters_are_the_same_to_the_bit(tmp_path, method):
    native = run(SCRIPTS / "digests.py", None, method)
    probed = run(SCRIPTS / "digests.py", tmp_path, method)
    assert probed.stdout == native.stdout
    assert len(native.stdout.splitlines()) == 8
    starts = {row["start_method"] for row in main_of(tmp_path).of("worker_started")}
    assert starts == {("fork", "spawn", "forkserver").index(method)}
    assert {"worker_ready", "fetch", "busy", "send"} <= set().union(
        *(worker.kinds() for worker in workers_of(tmp_path))
    )


# What the probe reads of the process beside its clock, from descriptors that it opens once.
OURS = re.compile(r"'/proc/\*/(statm|task/\*/(io|schedstat))', ")
MOST_OF_OURS = 3


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
def test_threads_children_descriptors_and_shared_memory_are_the_same_but_for_what_we_read(tmp_path):
    native = run(SCRIPTS / "resources.py", None, "held")
    probed = run(SCRIPTS / "resources.py", tmp_path, "held")
    assert OURS.sub("", probed.stdout) == native.stdout
    assert len(native.stdout.splitlines()) == 3 * (2 * (8 + 1) + 1)
    assert max(len(OURS.findall(line)) for line in probed.stdout.splitlines()) <= MOST_OF_OURS
    assert probed.stderr == native.stderr


@pytest.mark.slow
@pytest.mark.xfail(
    reason="CPython adds the frame of every Python function that an exception passes, our hooks' as well"
)
def test_tracebacks_are_the_scripts_own(tmp_path):
    native = run(SCRIPTS / "resources.py", None, "tracebacks")
    assert run(SCRIPTS / "resources.py", tmp_path, "tracebacks").stdout == native.stdout
