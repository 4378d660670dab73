"""What is to be checked first on a real GPU, as one table: `python tests/gpu/first_checks.py [matrix size]`.

Needs torch with a GPU that answers to `cuda` (ROCm does), and this package.  Each line says what was found and what the device
clock takes for granted; "NO" is where they part.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

import torch

from loaderdoctor.probe.device.backend import ModuleBackend
from loaderdoctor.probe.device.clock import DeviceClock
from loaderdoctor.probe.layout import KIND_OF

SIZE = int(sys.argv[1]) if len(sys.argv) > 1 else 2048
STEPS = 40
STEP_S = 0.02
NS = 1e9
MB = 1_000_000


class Kept:
    """A writer that keeps the steps."""

    def __init__(self):
        self.steps = []

    def put(self, kind, *fields):
        if kind == KIND_OF["device_step"]:
            self.steps.append(fields)

    def note(self, slug, sentence):
        say("note", f"{slug}: {sentence}", holds=False)


def say(check, found, *, holds=None):
    mark = {None: "   ", True: "yes", False: "NO "}[holds]
    print(f"{mark}  {check:38} {found}", flush=True)


class Work:
    """Kernels of known length."""

    def __init__(self):
        self.a = torch.ones(SIZE, SIZE, device="cuda")
        self.run(3)
        self.kernel_s = self.seconds(lambda: self.run(20)) / 20
        self.kernels = max(1, round(STEP_S / self.kernel_s))

    def run(self, kernels):
        for _ in range(kernels):
            torch.mm(self.a, self.a)

    def step(self):
        self.run(self.kernels)

    @staticmethod
    def seconds(act):
        torch.cuda.synchronize()
        began = time.perf_counter()
        act()
        torch.cuda.synchronize()
        return time.perf_counter() - began


def loop(work, load_s, *, sync=False, steps=STEPS):
    """(sum of D, sum of W, seconds) over the steps after the third one, by the device clock."""
    kept = Kept()
    clock = DeviceClock(kept, lambda: ModuleBackend(torch, "cuda"))
    waits, began = [], 0.0
    for step in range(steps + 1):
        if step == 3:
            began = time.perf_counter()
        clock.requested(1)
        asked = time.perf_counter()
        time.sleep(load_s)
        waits.append(time.perf_counter() - asked)
        clock.got(1, step, 0)
        work.step()
        if sync:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    took = time.perf_counter() - began
    clock.finished()
    measured = {fields[1]: (fields[5], fields[10]) for fields in kept.steps}
    felt = sum(wait * every for ordinal, (wait, every) in measured.items() if ordinal >= 3) / NS
    return felt, sum(waits[3:]), took


def noise_and_sync(work):
    felt, _, _ = loop(work, 0.0)
    floor_us = felt / (STEPS - 2) * 1e6
    say("a) wait of a fed stream", f"{floor_us:.1f} us a step", holds=floor_us < 20)
    felt, waited, _ = loop(work, 0.005, sync=True)
    say("a) wait felt, with a sync each step", f"{felt / waited:.1%} of next()", holds=abs(felt / waited - 1) < 0.03)


def call_costs():
    backend = ModuleBackend(torch, "cuda")
    start, end, stream = backend.event(), backend.event(), backend.stream(0)
    for event in (start, end):
        backend.record(event, stream)
    torch.cuda.synchronize()
    calls = {
        "record": lambda: backend.record(end, stream),
        "query": lambda: backend.done(start),
        "elapsed": lambda: (torch.cuda.synchronize(), backend.elapsed_ns(start, end)),
        "stream": lambda: backend.stream(0),
        "synchronize": torch.cuda.synchronize,
    }
    for name, call in calls.items():
        began = time.perf_counter()
        for _ in range(500):
            call()
        say(f"b) {name}", f"{(time.perf_counter() - began) / 500 * 1e6:.2f} us")


def pageable_copies(work):
    for pinned in (False, True):
        batch = torch.zeros(16 * MB // 4, pin_memory=pinned)
        torch.cuda.synchronize()
        work.step()
        began = time.perf_counter()
        batch.to("cuda", non_blocking=True)
        took = time.perf_counter() - began
        drains = took > STEP_S / 2
        kind = "pinned" if pinned else "pageable"
        say(f"c) {kind} copy behind a step", f"{took * 1e3:.2f} ms on the host", holds=drains != pinned)
        alone = work.seconds(lambda batch=batch: batch.to("cuda", non_blocking=True))
        say(f"c) {kind} copy alone", f"{16 * MB / alone / 1e9:.1f} GB/s")


def shares_of_waits(work):
    for part in (0, 0.25, 0.75, 1.5):
        felt, waited, took = loop(work, part * STEP_S)
        _, _, free = loop(work, 0.0)
        saved = took - free
        found = f"felt {felt / took:.1%}, next() {waited / took:.1%}, a perfect loader saves {saved / took:.1%}"
        slack = 0.05 * took
        say(f"d, i) load of {part:.0%} of a step", found, holds=felt - slack <= saved <= waited + slack)


def trace_window(work):
    from torch.profiler import ProfilerActivity, profile

    def step_ms():
        return work.seconds(lambda: [work.step() for _ in range(10)]) * 100

    before = step_ms()
    with profile(activities=[ProfilerActivity.CUDA]):
        during = step_ms()
    after = step_ms()
    found = f"{before:.2f} ms before, {during:.2f} during, {after:.2f} after"
    say("e) a step under activities=[CUDA]", found, holds=after < 1.05 * before)


def pinned_memory():
    def locked_kb():
        lines = Path("/proc/self/status").read_text().splitlines()
        return {line.split(":")[0]: int(line.split()[1]) for line in lines if line.startswith(("VmLck", "VmPin"))}

    before = locked_kb()
    block = torch.empty(1000 * MB, dtype=torch.uint8, pin_memory=True)
    say("f) 1 GB pinned", f"{before} before, {locked_kb()} after")
    del block
    say("f) host allocator", f"(allocations, bytes, ns) {ModuleBackend(torch, 'cuda').host_memory()}")


def capture():
    backend = ModuleBackend(torch, "cuda")
    static = torch.zeros(8, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        static.add_(1)
        refused = backend.capturing()
    graph.replay()
    torch.cuda.synchronize()
    say("g) no event goes into a graph", "seen in time" if refused else "not seen", holds=refused)


def driver_readings():
    from loaderdoctor.sample.gpu import GpuSampler

    sampler = GpuSampler()
    row = sampler.sample([])
    took = statistics.median(timed(lambda: sampler.sample([])) for _ in range(20))
    say("h) a row of the driver's readings", f"{took * 1e6:.0f} us, {row}", holds=took < 0.01)
    say("h) what it does not tell", str(sampler.notes()))


def timed(act):
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def main():
    if not torch.cuda.is_available():
        sys.exit("no GPU that answers to `cuda`")
    work = Work()
    say("device", f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {work.kernels} kernels a step")
    checks = (
        *(lambda: noise_and_sync(work), call_costs, lambda: pageable_copies(work), lambda: shares_of_waits(work)),
        *(lambda: trace_window(work), pinned_memory, capture, driver_readings),
    )
    for check in checks:
        try:
            check()
        except Exception as error:  # noqa: BLE001 - one check that cannot be made leaves the others
            say("not checked", repr(error)[:150], holds=False)


if __name__ == "__main__":
    main()
