"""Hooks on tensors and streams hear of every copy and wait once, and torch.compile does not hear of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_simaccel import needs_simaccel

SCRIPTS = Path(__file__).parent / "scripts"
TESTS = Path(__file__).parents[2]

# copies, how many times the tensor's bytes, pinned, blocking, converted, aside, host waits
HEARD = {
    "to name": [1, 1, 0, 1, 0, 0, 0],
    "to device": [1, 1, 0, 1, 0, 0, 0],
    "to keyword": [1, 1, 0, 0, 0, 0, 0],
    "to tensor": [1, 1, 0, 1, 0, 0, 0],
    "to positional flag": [1, 1, 1, 0, 0, 0, 0],
    "to and convert": [1, 1, 0, 1, 1, 0, 0],
    "to of a transposed one": [1, 1, 0, 1, 1, 0, 0],
    "cuda": [1, 1, 0, 1, 0, 0, 0],
    "cuda pinned": [1, 1, 1, 0, 0, 0, 0],
    "copy into": [1, 1, 1, 0, 0, 0, 0],
    "two": [2, 2, 2, 0, 0, 0, 0],
    "aside": [1, 1, 1, 0, 0, 1, 0],
    "function mode": [1, 1, 0, 1, 0, 0, 0],
    "type only": [0, 0, 0, 0, 0, 0, 0],
    "on the device": [0, 0, 0, 0, 0, 0, 0],
    "module": [0, 0, 0, 0, 0, 0, 0],
    "module with buffers": [0, 0, 0, 0, 0, 0, 0],
    "failing": [0, 0, 0, 0, 0, 0, 0],
    "item": [0, 0, 0, 0, 0, 0, 1],
    "float": [0, 0, 0, 0, 0, 0, 1],
    "bool": [0, 0, 0, 0, 0, 0, 1],
    "cpu": [0, 0, 0, 0, 0, 0, 1],
    "to cpu": [0, 0, 0, 0, 0, 0, 1],
    "to cpu without waiting": [0, 0, 0, 0, 0, 0, 0],
    "tolist": [0, 0, 0, 0, 0, 0, 1],
    "synchronize": [0, 0, 0, 0, 0, 0, 1],
    "stream synchronize": [0, 0, 0, 0, 0, 0, 1],
    "item on the host": [0, 0, 0, 0, 0, 0, 0],
}


def facts(script):
    """What the script prints."""
    environment = os.environ | {"PYTHONPATH": str(TESTS)}
    command = [sys.executable, str(SCRIPTS / script)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def heard():
    return facts("hooked.py")


@needs_simaccel
@pytest.mark.parametrize("call", HEARD)
def test_what_the_clock_hears_of_a_call(heard, call):
    assert heard[call] == HEARD[call]


def test_compiled_functions_are_as_without_the_hooks():
    told = facts("compiled.py")
    assert told.pop("breaks after") == told.pop("breaks before")
    assert all(told.values()), told


def printed(script, *arguments):
    command = [sys.executable, "-W", "ignore", str(SCRIPTS / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_heard_method_is_the_method_to_all_who_hold_compare_pickle_compile_or_dispatch_on_it():
    plain = printed("held.py")
    assert printed("held.py", "hooked") == plain
    assert "compile unbound -> tensor([0., 1., 2.], dtype=torch.float64)" in plain


def test_a_run_without_a_device_touches_nothing_of_the_tensor():
    source = """
import torch
before = dict(vars(torch.Tensor))
from loaderdoctor.probe.device import make_clock
clock = make_clock(None)
for step in range(3):
    clock.requested(1); clock.got(1, step, 0); clock.stepped()
print(dict(vars(torch.Tensor)) == before, torch.Tensor.to is torch._C.TensorBase.to)
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == ["True", "True"]
