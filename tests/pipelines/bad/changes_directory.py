"""Trains in another directory than the one it was started in."""

import os
import tempfile
from pathlib import Path

import tiny

with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    print(tiny.train(), sorted(path.name for path in Path().iterdir()))
    os.chdir("/")
