"""Files of the script that have names of the standard library's: ours never runs them, and they hide nothing from ours."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from probing import BOOTSTRAP, main_of, run

import loaderdoctor
from loaderdoctor.probe.standard import LATER

PROBE = Path(loaderdoctor.__file__).parent / "probe"
TRAINS = """
import torch
from torch.utils.data import DataLoader, TensorDataset
for _ in DataLoader(TensorDataset(torch.randn(300, 7)), batch_size=8): pass
print("done")
"""


def imported_by_the_probe():
    """Every module of the standard library that any file of the probe imports."""
    names = set(LATER)
    for path in PROBE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names.add(str(node.module).partition(".")[0])
    return sorted((names & sys.stdlib_module_names) - set(sys.builtin_module_names) - {"os", "__future__"})


def test_no_file_of_the_scripts_is_run_by_us(tmp_path):
    for name in imported_by_the_probe():
        (tmp_path / f"{name}.py").write_text(f"print('the script\\'s own {name} runs')\n")
    (tmp_path / "helper.py").write_text("")  # from outside the standard library: the probe is loaded for it
    (tmp_path / "script.py").write_text("import helper\nimport resource\nprint(resource.__name__)\n")
    plain = run(tmp_path / "script.py", check=False)
    assert run(tmp_path / "script.py", tmp_path / "run", check=False).stdout == plain.stdout
    assert plain.stdout.splitlines() == ["the script's own resource runs", "resource"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["resource"])
def test_a_run_with_such_a_file_is_measured(tmp_path, name):
    (tmp_path / f"{name}.py").write_text("print('MINE')\n")
    (tmp_path / "script.py").write_text(TRAINS)
    done = run(tmp_path / "script.py", tmp_path / "run")
    assert done.stdout == "done\n"
    assert len(main_of(tmp_path / "run").of("next")) == 39


def test_a_module_of_the_scripts_that_is_there_already_stays(tmp_path):
    (tmp_path / "resource.py").write_text("POOLS = 3\n")
    (tmp_path / "helper.py").write_text("")
    (tmp_path / "script.py").write_text(
        "import resource\nimport helper\nimport resource as again\nprint(again.POOLS)\n"
    )
    assert run(tmp_path / "script.py", tmp_path / "run").stdout == "3\n"


def test_the_path_is_as_it_was(tmp_path):
    source = "import sys; import helper; print(sys.path)"
    (tmp_path / "helper.py").write_text("")
    told = []
    for environment in ({}, {"PYTHONPATH": str(BOOTSTRAP), "LOADERDOCTOR_RUN": str(tmp_path)}):
        command = [sys.executable, "-c", source]
        told.append(subprocess.check_output(command, cwd=tmp_path, text=True, env={**environment}))
    assert told[0] == told[1]
