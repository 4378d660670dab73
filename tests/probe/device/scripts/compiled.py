"""Compiles functions that use hooked methods, before and after the hooks are there, and prints what came of it as JSON."""

from __future__ import annotations

import json

import torch
import torch._dynamo
from device_backends import SimBackend

from loaderdoctor.probe._importlib_bootstrap import transfer, waiting
from loaderdoctor.probe.device import make_clock
from loaderdoctor.probe.device.hearing import hearing


class Nobody:
    """A writer that writes nothing."""

    def put(self, kind, *fields):
        pass

    def put_all(self, records):
        pass

    def note(self, slug, sentence):
        raise AssertionError(slug, sentence)


def work(x, out):
    """Every hooked method that a graph may hold."""
    y = x.to(torch.float64).to("cpu").cpu()
    out.copy_(y)
    return out + y


def read(x):
    """Methods that leave the graph with or without us."""
    return x * x.sum().item() if bool(x.sum() > 0) else x * float(x.sum())


def breaks(function, *args):
    torch._dynamo.reset()
    return torch._dynamo.explain(function)(*args).graph_break_count


x, out = torch.ones(4), torch.zeros(4, dtype=torch.float64)
told = {"breaks before": [breaks(work, x, out), breaks(read, x)]}
torch._dynamo.reset()
early = torch.compile(work, backend="eager", fullgraph=True)
expected = early(x, out)

clock = make_clock(Nobody())
clock._find_backend = SimBackend
clock._hook = lambda _kind: (transfer.wrap(torch), waiting.wrap_tensor(torch))  # torch has no module of that kind
torch._dynamo.config.error_on_recompile = True
told["unarmed"] = bool(torch.equal(early(x, out), expected))
clock.requested(1)
clock.got(1, 0, 0)
told["armed"] = clock.armed and hearing.clock is clock
told["same result, no recompile"] = bool(torch.equal(early(x, out), expected))
late = torch.compile(work, backend="eager", fullgraph=True)
told["fullgraph"] = bool(torch.equal(late(x, out), expected))
clock.finished()
told["no recompile when it ends"] = bool(torch.equal(late(x, out), expected))
clock.armed = True
torch._dynamo.config.error_on_recompile = False
told["breaks after"] = [breaks(work, x, out), breaks(read, x)]
print(json.dumps(told))
