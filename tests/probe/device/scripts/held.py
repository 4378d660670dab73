"""Holds, compares, pickles, compiles and dispatches on methods of torch.Tensor, and prints what came of it.

`hooked`: with the methods heard, as on a run with an accelerator; tables that hold the methods are built before.
"""

from __future__ import annotations

import copy
import functools
import inspect
import pickle
import sys

import torch
from torch.masked import masked_tensor
from torch.nested import nested_tensor
from torch.overrides import TorchFunctionMode

BEFORE = {torch.Tensor.to, torch.Tensor.item, torch.Tensor.copy_}
LISTED = [torch.Tensor.cpu, torch.Tensor.tolist]
if sys.argv[1:] == ["hooked"]:
    from loaderdoctor.probe._importlib_bootstrap import transfer, waiting

    transfer.wrap(torch)
    waiting.wrap_tensor(torch)
AFTER = {torch.Tensor.to, torch.Tensor.item, torch.Tensor.copy_}
x = torch.arange(3.0)


class Log(TorchFunctionMode):
    """Notes whether what it is handed is in tables built before and after."""

    seen: list = []  # noqa: RUF012 - one script, one list

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.seen.append((function in BEFORE, function in AFTER))
        return function(*args, **(kwargs or {}))


class Mine(torch.Tensor):
    """A subclass that dispatches by a table, as torchvision's do."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        result = super().__torch_function__(function, types, args, kwargs or {})
        return ("kept" if function in BEFORE else "plain"), type(result).__name__


class Moves(torch.nn.Module):
    def forward(self, x):
        return x.to(torch.float64).cpu()


def logged():
    with Log():
        x.to(torch.float64)
    return Log.seen


def lazy():
    model = torch.nn.Sequential(torch.nn.LazyLinear(4), torch.nn.Linear(4, 1))
    model.to("cpu", torch.float32)
    return model.to(torch.float64)(torch.ones(2, 3, dtype=torch.float64)).shape


def compiled(function):
    return torch.compile(function, backend="eager", fullgraph=True)(x)


TRIED = {
    "compile bound": lambda: compiled(lambda x: x.to(torch.float64).cpu() + 1),
    "compile copy_": lambda: compiled(lambda x: torch.empty(3).copy_(x)),
    "compile unbound": lambda: compiled(lambda x: torch.Tensor.to(x, torch.float64)),
    "export": lambda: type(torch.export.export(Moves(), (x,))).__name__,
    "trace": lambda: torch.jit.trace(lambda x: x.to(torch.float64).cpu(), x)(x),
    "fx": lambda: torch.fx.symbolic_trace(lambda x: x.to(torch.float64).cpu())(x),
    "vmap": lambda: torch.vmap(lambda x: x.to(torch.float64))(x),
    "pickled": lambda: pickle.loads(pickle.dumps(torch.Tensor.to)) is torch.Tensor.to,  # noqa: S301 - our own bytes
    "pickled in a partial": lambda: pickle.loads(pickle.dumps(functools.partial(torch.Tensor.item)))(torch.tensor(1)),  # noqa: S301 - the same
    "copied": lambda: copy.deepcopy(torch.Tensor.cpu) == torch.Tensor.cpu,
    "resolved": lambda: torch.overrides.resolve_name(torch.Tensor.to),
    "is a method": lambda: torch.overrides.is_tensor_method_or_property(torch.Tensor.to),
    "listed": lambda: [torch.Tensor.cpu in LISTED, LISTED.index(torch.Tensor.tolist), torch.Tensor.to in LISTED],
    "handed on": logged,
    "subclass": lambda: x.as_subclass(Mine).to(torch.float64),
    "lazy": lazy,
    "nested": lambda: nested_tensor([x, x[:2]], layout=torch.jagged).to(torch.float64).dtype,
    "masked": lambda: type(masked_tensor(x, x > 0).to(torch.float64)).__name__,
    "fake": lambda: torch._subclasses.FakeTensorMode().from_tensor(x).to(torch.float64).dtype,
    "uninitialized": lambda: torch.nn.UninitializedParameter().cpu(),
    "looks": lambda: [
        repr(torch.Tensor.to),
        torch.Tensor.to.__name__,
        torch.Tensor.to.__qualname__,
        str(torch.Tensor.to.__doc__)[:40],
    ],
    "is a descriptor": lambda: [
        inspect.ismethoddescriptor(torch.Tensor.to),
        inspect.isfunction(torch.Tensor.to),
        callable(torch.Tensor.to),
    ],
    "is": lambda: [torch.Tensor.to is torch._C.TensorBase.to, torch.Tensor.item is torch._C.TensorBase.item],
    "hash": lambda: len({*BEFORE, *AFTER}),
    "bound": lambda: [x.to.__name__, x.to.__self__ is x, x.to == x.to, x.item == x.to],
    "reads": lambda: [float(x[1]), int(x[1]), bool(x[1]), x.tolist(), x[1].item()],
    "signature": lambda: inspect.signature(torch.Tensor.to),
    "wrong": lambda: torch.Tensor.item(x),
}

for name, act in TRIED.items():
    try:
        print(name, "->", act())
    except Exception as error:  # noqa: BLE001 - what it raises is what is compared
        print(name, "->", type(error).__name__, str(error).splitlines()[0])
