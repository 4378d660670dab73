"""Whether the libraries that a test trains with are installed here, and can be imported.

Where LOADERDOCTOR_EVERY_LIBRARY is set, as `tests/frameworks/run` does, one that is missing is a failure.  It is tried in
a process of its own, so that no test runs beside what a library changes on import.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from importlib.util import find_spec

import pytest

EVERY_LIBRARY = "LOADERDOCTOR_EVERY_LIBRARY"


def need(*modules: str) -> None:
    """Skips the test where one of the modules cannot be imported, or fails it where each must be."""
    for module in modules:
        lacking = _lacking(module)
        if lacking and os.environ.get(EVERY_LIBRARY):
            pytest.fail(lacking)
        if lacking:
            pytest.skip(lacking)


@cache
def _lacking(module: str) -> str | None:
    """Why the module cannot be imported."""
    library = module.partition(".")[0]
    if find_spec(library) is None:
        return f"{library} is not installed"
    done = subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, text=True, check=False)
    if done.returncode:
        return f"{module} cannot be imported with this torch: {done.stderr.strip().splitlines()[-1]}"
    return None
