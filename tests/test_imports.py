"""Who may import what: read from the source, and from what a process has really loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from source import PACKAGE, TESTS, imports, label, module_name, package_files

# A stage imports itself and what stands before it.
STAGES = (
    "probe",
    "record",
    "sample",
    "launch",
    "analyse",
    "predict",
    "causes",
    "treat",
    "report",
    "live",
    "compare",
    "tune",
    "cli",
)

# Third-party package -> where in ours it may be imported.
HOMES = {
    "numpy": ("record", "launch.ending", "analyse", "predict", "demo"),  # the ending reads the last records
    "pandas": ("analyse", "predict"),
    "psutil": ("sample",),
    "pynvml": ("sample", "cli.check"),  # the check asks whether it loads
    "jinja2": ("report",),
    "weasyprint": ("report.pdf", "cli.check"),  # the same
    "rich": ("report.terminal", "cli"),
    "click": ("cli",),
    "PIL": ("demo",),
    "torch": ("demo",),
}
HEAVY = {"numpy", "pandas", "psutil", "pynvml", "jinja2", "weasyprint", "rich", "click", "PIL", "torch"}
NEW_MODULES_OF_THE_PROBE = 10  # each costs start-up time in every process of a training


def within(name: str, *places: str) -> bool:
    """Whether the module is one of the places of our package, or inside one."""
    return any(name == f"loaderdoctor.{place}" or name.startswith(f"loaderdoctor.{place}.") for place in places)


def outside(names: set[str]) -> set[str]:
    """Top-level packages that are neither the standard library nor ours."""
    tops = {name.split(".")[0] for name in names}
    return tops - set(sys.stdlib_module_names) - {"loaderdoctor", "__future__"}


@pytest.mark.parametrize("path", package_files(), ids=label)
def test_third_party_packages_are_imported_only_where_they_belong(path):
    name = module_name(path)
    assert {top for top in outside(imports(path)) if not within(name, *HOMES.get(top, ()))} == set()


@pytest.mark.parametrize("path", sorted((PACKAGE / "probe").rglob("*.py")), ids=label)
def test_the_probe_imports_the_standard_library_and_itself(path):
    assert outside(imports(path)) == set()
    assert {name for name in imports(path) if name.startswith("loaderdoctor") and not within(name, "probe")} == set()


@pytest.mark.parametrize("path", sorted((PACKAGE / "launch" / "bootstrap").rglob("*.py")), ids=label)
def test_the_bootstrap_imports_the_standard_library_only(path):
    assert {name for name in imports(path) if name.split(".")[0] not in sys.stdlib_module_names} == set()


@pytest.mark.parametrize("path", sorted((PACKAGE / "causes").rglob("*.py")), ids=label)
def test_causes_read_signals_and_predictions_and_nothing_else(path):
    ours = {name for name in imports(path) if name.startswith("loaderdoctor")}
    assert {name for name in ours if not within(name, "causes", "values", "analyse.signals", "predict")} == set()


@pytest.mark.parametrize("path", sorted((PACKAGE / "report").rglob("*.py")), ids=label)
def test_the_report_never_imports_a_cause(path):
    causes = {f"loaderdoctor.causes.{page.stem}" for page in (PACKAGE / "causes").glob("*.md")}
    assert imports(path) & causes == set()


@pytest.mark.parametrize("path", package_files(), ids=label)
def test_a_stage_imports_no_later_stage(path):
    stage = (*module_name(path).split("."), "")[1]
    later = STAGES[STAGES.index(stage) + 1 :] if stage in STAGES else ()
    assert {name for name in imports(path) if within(name, *later)} == set()


@pytest.mark.parametrize("path", package_files(), ids=label)
def test_nothing_imports_the_command_line(path):
    if not within(module_name(path), "cli", "__main__"):
        assert {name for name in imports(path) if within(name, "cli")} == set()


def loaded_by(code: str, **environment: str) -> set[str]:
    """Names of the modules that a fresh interpreter holds after the code."""
    code = f"{code}\nimport json, sys\nprint(json.dumps(list(sys.modules)))"
    output = subprocess.check_output([sys.executable, "-c", code], text=True, env=os.environ | environment)
    return set(json.loads(output.splitlines()[-1]))


@pytest.mark.parametrize("module", ["loaderdoctor", "loaderdoctor.values", "loaderdoctor.probe", "loaderdoctor.demo"])
def test_what_is_imported_often_is_light(module):
    assert {name.split(".")[0] for name in loaded_by(f"import {module}")} & HEAVY == set()


def test_the_probe_adds_next_to_nothing_to_what_a_training_loads(tmp_path):
    tiny = str(TESTS / "pipelines" / "bad")
    training = f"import sys; sys.path.insert(0, {tiny!r}); import tiny; tiny.train()"
    for folder in ("records", "samples"):
        (tmp_path / folder).mkdir()
    bare = loaded_by(training)
    probed = loaded_by(training, LOADERDOCTOR_RUN=str(tmp_path), PYTHONPATH=str(PACKAGE / "launch" / "bootstrap"))

    ours = {name for name in probed if name.startswith("_loaderdoctor_probe")}
    added = probed - bare - ours - {"sitecustomize"}
    assert ours, "the probe was not loaded, so this test held nothing"
    assert list(tmp_path.glob("records/*.bin")), "nothing was recorded, so this test held nothing"
    assert {name.split(".")[0] for name in added} & HEAVY == set()
    assert len(added) < NEW_MODULES_OF_THE_PROBE, sorted(added)
