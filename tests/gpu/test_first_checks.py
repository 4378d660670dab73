"""The device clock's assumptions hold on the GPU of this machine, where it has one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

CHECKS = Path(__file__).parent / "first_checks.py"


@pytest.mark.slow
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU that answers to `cuda`")
def test_nothing_is_other_than_the_device_clock_takes_for_granted():
    done = subprocess.run([sys.executable, str(CHECKS)], capture_output=True, text=True, check=True, timeout=600)
    print(done.stdout)
    assert [line for line in done.stdout.splitlines() if line.startswith("NO")] == []
