"""What an installed package must bring with it, as a wheel and as an editable install."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from source import PACKAGE, ROOT

import loaderdoctor
from loaderdoctor.demo import SCRIPT
from loaderdoctor.report.templates import find_templates


def test_the_version_is_told_once():
    assert metadata.version("loaderdoctor") == loaderdoctor.__version__


def test_the_newest_entry_of_the_changelog_is_this_version():
    entries = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert entries[0] == loaderdoctor.__version__


def test_the_templates_come_along():
    assert list(Path(find_templates()).glob("*.j2"))


def test_every_cause_brings_its_page():
    assert list((PACKAGE / "causes").rglob("*.md"))


def test_the_bootstrap_comes_along():
    assert (PACKAGE / "launch" / "bootstrap" / "sitecustomize.py").is_file()


def test_the_demo_comes_along():
    assert SCRIPT.is_file()


def test_the_command_is_installed():
    command = Path(sys.executable).with_name("loaderdoctor")
    said = subprocess.check_output([str(command), "--version"], text=True)
    assert loaderdoctor.__version__ in said


def test_the_package_runs_as_a_module(tmp_path):
    said = subprocess.check_output([sys.executable, "-m", "loaderdoctor", "--version"], text=True, cwd=tmp_path)
    assert loaderdoctor.__version__ in said
