"""The golden reports are what the code makes of the samples now; `python tests/golden/regenerate.py` renews them."""

import importlib.util
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden"
spec = importlib.util.spec_from_file_location("regenerate", GOLDEN / "regenerate.py")
regenerate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(regenerate)

REPORTS = regenerate.reports()


@pytest.mark.parametrize("name", REPORTS)
def test_golden(name):
    assert (GOLDEN / name).read_text(encoding="utf-8") == REPORTS[name]


def test_no_golden_file_is_left_over():
    assert {path.name for path in GOLDEN.iterdir() if path.suffix[1:] in regenerate.SUFFIXES} == set(REPORTS)
