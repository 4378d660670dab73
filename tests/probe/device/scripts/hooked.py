"""Calls the hooked methods on the simulated device in every form, and prints what the clock heard as JSON."""

from __future__ import annotations

import json
import warnings

import simaccel

simaccel.install(as_cuda=True, h2d_pinned=1e9, h2d_pageable=0.5e9)

import torch  # noqa: E402 - the device comes first, as in a user's script

from loaderdoctor.probe.device import make_clock  # noqa: E402 - the same

SIDE = 64
BYTES = SIDE * SIDE * 4


class Heard:
    """A writer that keeps sums of the copies and waits."""

    def __init__(self):
        self.copies = []
        self.steps = []

    def put(self, kind, *fields):
        if kind == 31:
            self.copies.append(fields)
        elif kind == 30:
            self.steps.append(fields)

    def put_all(self, records):
        for record in records:
            self.put(*record)

    def note(self, slug, sentence):
        raise AssertionError(slug, sentence)


def heard_of(act):
    """(copies, bytes, pinned, blocking, converted, side, syncs) that the clock hears of what `act` does."""
    heard = Heard()
    clock = make_clock(heard)
    clock.requested(1)
    clock.got(1, 0, 0)
    act()
    clock.requested(1)
    simaccel.get_device().synchronize()
    clock.got(1, 1, 0)
    clock.finished()
    _, _, _, count, size, pinned, _, blocking, converted, _, _, side = (heard.copies or [(0,) * 12])[0]
    return [count, size // BYTES, pinned, blocking, converted, side, heard.steps[0][12]]


host = torch.ones(SIDE, SIDE)
pinned = torch.ones(SIDE, SIDE).pin_memory()
here = torch.ones(SIDE, SIDE, device="cuda")
side = torch.cuda.Stream()


def on_a_side_stream():
    with torch.cuda.stream(side):
        pinned.to("cuda", non_blocking=True)
    torch.cuda.current_stream().wait_stream(side)


def under_a_function_mode():
    with torch.device("cuda"):
        host.to("cuda")


def failing():
    try:
        here.copy_(torch.ones(3, 5))
    except RuntimeError:
        return


CALLS = {
    "to name": lambda: host.to("cuda"),
    "to device": lambda: host.to(torch.device("cuda", 0)),
    "to keyword": lambda: host.to(device="cuda", non_blocking=True),
    "to tensor": lambda: host.to(here),
    "to positional flag": lambda: pinned.to("cuda", torch.float32, True),
    "to and convert": lambda: host.to("cuda", torch.float64),
    "to of a transposed one": lambda: host.t().to("cuda"),
    "cuda": lambda: host.cuda(None),
    "cuda pinned": lambda: pinned.cuda(non_blocking=True),
    "copy into": lambda: here.copy_(pinned, non_blocking=True),
    "two": lambda: (pinned.to("cuda", non_blocking=True), pinned.to("cuda", non_blocking=True)),
    "aside": on_a_side_stream,
    "function mode": under_a_function_mode,
    "type only": lambda: host.to(torch.float64),
    "on the device": lambda: here.to(torch.float64),
    "module": lambda: torch.nn.Linear(4, 4).to("cuda"),
    "module with buffers": lambda: torch.nn.BatchNorm1d(4).cuda(),
    "failing": failing,
    "item": lambda: [here.sum().item()],
    "float": lambda: float(here.sum()),
    "bool": lambda: bool(here.sum() > 0),
    "cpu": lambda: here.cpu(memory_format=torch.preserve_format),
    "to cpu": lambda: here.to("cpu"),
    "to cpu without waiting": lambda: here.to("cpu", non_blocking=True),
    "tolist": lambda: here.flatten().tolist(),
    "synchronize": lambda: torch.cuda.synchronize(0),
    "stream synchronize": lambda: (torch.cuda.current_stream().synchronize(),),
    "item on the host": lambda: [host.sum().item()],
}

if __name__ == "__main__":
    warnings.simplefilter("error")
    heard_of(lambda: None)  # hooks the device's classes
    print(json.dumps({name: heard_of(act) for name, act in CALLS.items()}))
