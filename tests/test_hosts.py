"""A job of two hosts: network namespaces of this machine with names of their own, a torchrun in each, one shared folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from under_the_tool import PIPELINES, TIME_LIMIT_S, read_report, read_stopwatch, run, starved_share

pytestmark = pytest.mark.slow

SHARE_POINTS = 0.03
NAMES = ("alpha", "beta")
TORCHRUN = [str(Path(sys.executable).with_name("torchrun")), "--nnodes", "2", "--nproc-per-node", "1"]
REPORT = [sys.executable, "-m", "loaderdoctor", "report", "--format", "json"]


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=False)


@contextmanager
def two_namespaces():
    """Names of two network namespaces that reach each other at 10.77.0.1 and 10.77.0.2."""
    spaces = [f"loaderdoctor-{os.getpid()}-{number}" for number in (1, 2)]
    made = [ip("netns", "add", space).returncode for space in spaces]
    try:
        if any(made):
            pytest.skip("this machine gives no network namespaces, or only to root")
        ends = [f"ld{os.getpid()}{letter}"[-15:] for letter in "ab"]
        made = [ip("link", "add", ends[0], "netns", spaces[0], "type", "veth", "peer", ends[1], "netns", spaces[1])]
        for number, (space, end) in enumerate(zip(spaces, ends, strict=True), 1):
            made += [
                ip("-n", space, "addr", "add", f"10.77.0.{number}/24", "dev", end),
                ip("-n", space, "link", "set", end, "up"),
                ip("-n", space, "link", "set", "lo", "up"),
            ]
        if any(one.returncode for one in made):
            pytest.skip(f"namespaces cannot be joined here: {' '.join(one.stderr for one in made)}")
        yield list(zip(spaces, ends, strict=True))
    finally:
        for space in spaces:
            ip("netns", "del", space)


def on_host(space, name, command, directory, **environment):
    """The command in a namespace, where the machine has that name."""
    named = ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', name, *command]
    return subprocess.Popen(
        ["ip", "netns", "exec", space, *named],
        cwd=directory,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.skipif(not (shutil.which("ip") and shutil.which("unshare")), reason="needs ip and unshare")
def test_two_hosts_on_one_shared_folder_are_one_job(tmp_path):
    shared = tmp_path / "shared"
    with two_namespaces() as spaces:
        hosts = []
        for number, ((space, end), name) in enumerate(zip(spaces, NAMES, strict=True)):
            command = [sys.executable, "-m", "loaderdoctor", "profile", "--no-pdf", "-o", str(shared), "--", *TORCHRUN]
            command += ["--node-rank", str(number), "--master-addr", "10.77.0.1", "--master-port", "29500"]
            command += [str(PIPELINES / "ranks.py")]
            times = {"STOPWATCH": str(tmp_path / "times"), "GLOO_SOCKET_IFNAME": end}
            hosts.append(on_host(space, name, command, tmp_path, **times))
        said = [host.communicate(timeout=TIME_LIMIT_S)[0] for host in hosts]

    assert sorted(path.name for path in shared.iterdir()) == list(NAMES), said
    assert f"loaderdoctor report {shared}" in said[0]
    alone = read_report(shared / "beta")
    assert {"hosts-missing", "one-of-several-parts"} <= {note["slug"] for note in alone["notes"]}

    ran = run([*REPORT, str(shared)], tmp_path)
    assert ran.status == 0, ran.stderr
    report = read_report(shared, ran.stderr)
    times = [read_stopwatch(tmp_path / f"times{rank}") for rank in (0, 1)]
    assert [(one["rank"], one["host"]) for one in report["ranks"]] == [(0, "host-1"), (1, "host-2")]
    for rank, loops in zip(report["ranks"], times, strict=True):
        assert rank["starved_share"] == pytest.approx(starved_share(loops), abs=SHARE_POINTS)
    assert report["verdict"]["starved_share"]["best"] == pytest.approx(starved_share(*times), abs=SHARE_POINTS)
    assert report["verdict"]["cause"] == "input-straggler"
    assert [host["ranks"] for host in report["hosts"]] == [[0], [1]]
    assert all(host["environment"]["cpus_present"] > 0 for host in report["hosts"])
    assert {"hosts-missing", "one-of-several-parts"}.isdisjoint(note["slug"] for note in report["notes"])
    assert not any(name in json.dumps(report["ranks"]) for name in NAMES)

    parts = [str(shared / name) for name in reversed(NAMES)]
    named = run([*REPORT, "--name-hosts", "-o", str(tmp_path / "named"), *parts], tmp_path)
    assert named.status == 0, named.stderr
    assert [one["host"] for one in read_report(tmp_path / "named")["ranks"]] == list(NAMES)
