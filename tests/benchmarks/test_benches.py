"""Every bench runs: what it measures is for its own command, on a quiet machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
# bench: constants that make it short
SHORT = {
    "bench_probe": {"BATCHES": 50, "STEPS": 20, "PAIRS": 2},
    "bench_device": {"STEPS": 20, "ROUNDS": 2},
    "bench_stages": {"PAIRS": 2, "BLOCK": 5},
    "bench_sample": {"WORKERS": 2, "SECONDS": 2, "ROUNDS": 2},
    "bench_analyse": {"EPOCHS": (2,)},
    "bench_whole": {"PAIRS": 1, "STEPS": {"ranks": 40}},
}
MAIN = """
import importlib, json, sys
sys.path.insert(0, sys.argv[1])
bench = importlib.import_module(sys.argv[2])
vars(bench).update(json.loads(sys.argv[3]))
bench.main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("bench_*.py")))
def test_a_bench_prints_its_table(name):
    command = [sys.executable, "-c", MAIN, str(FOLDER), name, json.dumps(SHORT[name])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ}, check=False)
    assert done.returncode == 0, done.stderr
    assert any(character.isdigit() for character in done.stdout)
