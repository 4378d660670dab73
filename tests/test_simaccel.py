"""The simulated accelerator passes its own tests, in a process of their own: installing it changes torch for good."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

SIMACCEL = Path(__file__).parent / "simaccel"
QUICK = ("device", "truth", "two_events", "memory", "torch")
WHOLE_SCRIPTS = ("training", "loader", "scripts")


def runs_here():
    """Whether torch lets a device be written in Python: 2.13 does."""
    if sys.version_info < (3, 11):
        return False
    from torch.utils import backend_registration

    return hasattr(backend_registration, "_setup_privateuseone_for_python_backend")


def its_tests(names):
    files = [str(SIMACCEL / "tests" / f"test_{name}.py") for name in names]
    options = ["-q", "-c", "/dev/null", "-p", "no:cacheprovider", f"--confcutdir={SIMACCEL / 'tests'}"]
    command = [sys.executable, "-m", "pytest", *options, *files]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


needs_simaccel = pytest.mark.skipif(not runs_here(), reason="simaccel needs Python 3.11 and torch's Python backends")


@needs_simaccel
@pytest.mark.parametrize("names", [QUICK, pytest.param(WHOLE_SCRIPTS, marks=pytest.mark.slow)], ids=["quick", "whole"])
def test_the_simulator_passes_its_own_tests(names):
    assert find_spec("simaccel") is not None
    done = its_tests(names)
    assert done.returncode == 0, done.stdout[-2000:]
