"""A script is told from the text that ran."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import run_from

from loaderdoctor.treat.unchanged import is_edited


@pytest.mark.parametrize(
    ("kept", "now", "edited"),
    [("a = 1\n", "a = 1\n", False), ("a = 1\n", "\na = 1\n", True), ("a = 1\n", None, True), (None, "a = 1\n", False)],
    ids=["the same", "another line", "gone", "never kept"],
)
def test_a_text_is_the_one_that_ran_or_not(kept, now, edited, tmp_path):
    run = run_from("[" + "wc" * 4)
    path = tmp_path / "train.py"
    run = replace(
        run,
        meta=replace(run.meta, working_directory=str(tmp_path)),
        sources={} if kept is None else {str(path): kept},
    )
    if now is not None:
        path.write_text(now, encoding="utf-8")
    assert is_edited(run, "train.py") == is_edited(run, path) == edited
