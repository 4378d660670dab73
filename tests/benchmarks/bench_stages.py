"""What the stages and stacks cost: `python tests/benchmarks/bench_stages.py`.

Pairs in one process, alternating, medians; CPU time of the thread.  Prints ns a call under the profiler that tells stages, in the
one batch of many that it runs in, and the share of a worker's CPU time that the stack sampler takes (bar: 0.3 %).
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from probe_recorder import Recorder

from loaderdoctor.probe import profiled, stacks

PAIRS = 15
BLOCK = (
    2_000  # pieces of work a measurement: two seconds, so that starting and the last flush weigh as in a real worker
)
BAR_SHARE = 0.003


def work():
    """About 1 ms of Python and C."""
    total = 0
    for i in range(20_000):
        total += i * i % 7
    return sorted(range(20_000, 0, -1)), total


def cpu_ns(function, times):
    began = time.thread_time_ns()
    for _ in range(times):
        function()
    return (time.thread_time_ns() - began) / times


def paired(plain, changed, times):
    """Median of the differences, and of the plain ones; ns a call."""
    pairs = [(cpu_ns(plain, times), cpu_ns(changed, times)) for _ in range(PAIRS)]
    return statistics.median(c - p for p, c in pairs), statistics.median(p for p, _ in pairs)


def sampled():
    stacks.start()
    for _ in range(BLOCK):
        work()
    stacks.stop(Recorder(), 0)


def plain():
    for _ in range(BLOCK):
        work()


def main():
    extra_ns, base_ns = paired(plain, sampled, 1)
    print(f"call in a profiled batch   {2 * profiled._cost_of_event_ns():7.0f} ns")
    print(f"stack sampler              {extra_ns / base_ns:7.2%} of CPU (bar {BAR_SHARE:.1%})")
    handler_ns = statistics.median(
        cpu_ns(lambda: stacks.sampler.on_signal(0, sys._getframe()), 2000) for _ in range(PAIRS)
    )
    print(f"one signal's handler       {handler_ns:7.0f} ns, {handler_ns / (stacks.INTERVAL_S * 1e9):.2%} at this rate")


if __name__ == "__main__":
    main()
