"""What profiling costs a whole training: `python tests/benchmarks/bench_whole.py [WORKLOAD]...`.

Each workload runs alone and under `loaderdoctor profile` in turns, and says how long its loop took after its first epoch, by
its own clock; start-up and the report are not in it.  Medians of the paired ratios, with the quartiles, and beside them those
of equal runs, both alone: what is not larger than that is noise.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

WORKLOADS = Path(__file__).with_name("workloads")
PAIRS = 9
BAR, WORST_BAR = 0.005, 0.01  # share of the time: in the median of the workloads, and of the worst one
# workload: steps of an epoch
STEPS = {"memory_1ms": 3000, "memory_10ms": 400, "jpeg": 150, "text": 300, "spawn": 300, "ranks": 300}


def loop_s(name, *, is_profiled):
    """How long one run's loop took, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(WORKLOADS / "training.py"), name, str(STEPS[name])]
        if is_profiled:
            profile = [sys.executable, "-m", "loaderdoctor", "profile", "--no-pdf", "-o", f"{folder}/run", "--"]
            command = [*profile, *command]
        env = {**os.environ, "LOOP_TIME": f"{folder}/loop"}
        subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True)
        return float(Path(folder, "loop").read_text(encoding="ascii"))


def costs(name):
    """Shares of the time that profiling adds, and that a second run alone adds to a first one."""
    added, noise = [], []
    for _ in range(PAIRS):
        alone_s, profiled_s, again_s = (loop_s(name, is_profiled=kind) for kind in (False, True, False))
        added.append(profiled_s / ((alone_s + again_s) / 2) - 1)
        noise.append(again_s / alone_s - 1)
    return added, noise


def said(shares):
    """The median and the quartiles."""
    low, middle, high = statistics.quantiles(shares, n=4) if len(shares) > 1 else shares * 3
    return f"{middle:+7.2%} [{low:+7.2%}, {high:+7.2%}]"


def main(names=()):
    medians = []
    print(f"{'':12} profiled                      alone again")
    for name in names or STEPS:
        added, noise = costs(name)
        medians.append(statistics.median(added))
        print(f"{name:12} {said(added)}   {said(noise)}", flush=True)
    print(f"median {statistics.median(medians):+.2%} (bar {BAR:.1%}), worst {max(medians):+.2%} (bar {WORST_BAR:.0%})")


if __name__ == "__main__":
    main(sys.argv[1:])
