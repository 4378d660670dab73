"""What sampling from outside costs: `python tests/benchmarks/bench_sample.py`.

A tree of 20 processes (a training script that imported torch, and its workers) is sampled for a minute.  Prints the CPU time
of each part, and the share of one core that the sampling thread took in all (bar: 0.5 %).
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from loaderdoctor import sample
from loaderdoctor.sample.cgroup import CgroupSampler
from loaderdoctor.sample.disks import DisksSampler
from loaderdoctor.sample.loop import GLANCE_S
from loaderdoctor.sample.machine import MachineSampler
from loaderdoctor.sample.processes import ProcessesSampler
from loaderdoctor.sample.procfs import Roots
from loaderdoctor.sample.tree import ProcessTree

WORKERS, SECONDS, ROUNDS = 19, 60, 30
BAR_SHARE = 0.005
SCRIPT = f"""
import multiprocessing, time
import torch
context = multiprocessing.get_context("fork")
workers = [context.Process(target=time.sleep, args=(1000,), daemon=True) for _ in range({WORKERS})]
for worker in workers:
    worker.start()
print("ready", flush=True)
time.sleep(1000)
"""


def cpu_us(function):
    """Median CPU time of a call, the first left out."""
    function()
    times = []
    for _ in range(ROUNDS):
        began = time.thread_time()
        function()
        times.append(time.thread_time() - began)
    return statistics.median(times) * 1e6


def sampled(process):
    """The sampling thread's own account over SECONDS, and the bytes that it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        sampling = sample.start(Path(folder), process.pid)
        time.sleep(SECONDS)
        sampling.stop()
        files = list((Path(folder) / "samples").iterdir())
        account = json.loads((Path(folder) / "samples" / "sampling.jsonl").read_text())
        return account, sum(file.stat().st_size for file in files)


def main():
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        process.stdout.readline()
        roots = Roots()
        tree, processes = ProcessTree(process.pid, roots), ProcessesSampler(roots)
        pids = tree.pids()
        parts = {
            "process tree": tree.pids,
            f"{len(pids)} processes": lambda: processes.sample(pids),
            "machine": lambda: machine.sample(pids),
            "disks": lambda: disks.sample(pids),
            "control group": lambda: cgroup.sample(pids),
        }
        machine, cgroup = MachineSampler(roots), CgroupSampler(roots, process.pid)
        disks = DisksSampler(roots, process.pid, Path("/nowhere"))
        for name, function in parts.items():
            print(f"{name:16}{cpu_us(function):8.0f} us a row")
        print(f"{'states':16}{cpu_us(processes.glance) / GLANCE_S:8.0f} us a second")
        account, rows_bytes = sampled(process)
        share = (account["cpu_s"] - account["begun_cpu_s"]) / SECONDS
        print(f"in all          {share:8.2%} of one core (bar {BAR_SHARE:.1%})")
        print(f"beginning       {account['begun_cpu_s'] * 1e3:8.0f} ms, once")
        print(f"rows            {rows_bytes / SECONDS / 1024:8.1f} KiB a second")
        os.killpg(process.pid, signal.SIGKILL)  # its workers too
    return 0 if share < BAR_SHARE else 1


if __name__ == "__main__":
    sys.exit(main())
