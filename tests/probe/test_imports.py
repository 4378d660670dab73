"""The import hook: patches what the script imports, when it does, and is not noticed otherwise."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from probing import run

import loaderdoctor
from loaderdoctor.probe.imports import ImportHook


@pytest.fixture
def hook(monkeypatch, tmp_path):
    hook = ImportHook()
    monkeypatch.setattr(sys, "meta_path", [hook, *sys.meta_path])
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "hooked_library.py").write_text("value = 1\n", encoding="utf-8")
    yield hook
    sys.modules.pop("hooked_library", None)


def mark(module):
    module.marks = [*getattr(module, "marks", []), module.value]


def test_a_module_is_patched_when_it_is_imported(hook):
    hook.on_import("hooked_library", mark)
    assert importlib.import_module("hooked_library").marks == [1]


def test_a_module_that_is_there_is_patched_at_once(hook):
    library = importlib.import_module("hooked_library")
    hook.on_import("hooked_library", mark)
    assert library.marks == [1]


def test_a_stand_in_for_a_module_is_patched_like_one(hook, monkeypatch):
    library = SimpleNamespace(value=1)  # tests of scripts put such into sys.modules
    monkeypatch.setitem(sys.modules, "hooked_library", library)
    hook.on_import("hooked_library", mark)
    assert library.marks == [1]


def test_a_reload_is_patched_too(hook):
    hook.on_import("hooked_library", mark)
    library = importlib.import_module("hooked_library")
    del library.marks
    assert importlib.reload(library).marks == [1]


def test_the_loader_is_left_as_it_was(hook):
    hook.on_import("hooked_library", mark)
    library = importlib.import_module("hooked_library")
    assert "exec_module" not in vars(library.__spec__.loader)
    assert library.__loader__.get_source("hooked_library") == "value = 1\n"


def test_a_patch_that_fails_fails_alone(hook):
    def broken(module):
        raise AttributeError(module)

    hook.on_import("hooked_library", broken)
    hook.on_import("hooked_library", mark)
    assert importlib.import_module("hooked_library").marks == [1]


def test_a_module_that_fails_to_import_fails_as_ever(hook, tmp_path):
    (tmp_path / "broken_library.py").write_text("1 / 0\n", encoding="utf-8")
    hook.on_import("broken_library", mark)
    hook.on_import("absent_library", mark)
    with pytest.raises(ZeroDivisionError):
        importlib.import_module("broken_library")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("absent_library")


def test_a_finder_that_asks_again_is_not_sent_in_a_circle(hook):
    class Asks:
        def find_spec(self, name, path=None, target=None):
            return hook.find_spec(name, path, target)

    sys.meta_path.insert(1, Asks())
    hook.on_import("hooked_library", mark)
    assert importlib.import_module("hooked_library").marks == [1]


def test_a_process_without_a_loader_writes_nothing(tmp_path):
    script = tmp_path / "plain.py"
    script.write_text("import json, threading\nprint(json.dumps([1]))\n", encoding="utf-8")
    assert run(script, tmp_path).stdout == "[1]\n"
    assert list((tmp_path / "records").iterdir()) == []


def test_importing_torch_writes_nothing_and_adds_the_standard_library_at_most(tmp_path):
    script = tmp_path / "imports.py"
    script.write_text(
        "import sys, torch\nprint(sorted(m for m in sys.modules if 'doctor' not in m))\n", encoding="utf-8"
    )
    native, probed = run(script), run(script, tmp_path)
    added = set(eval(probed.stdout)) - set(eval(native.stdout))  # noqa: S307 - a list of names that we printed
    assert added - set(sys.stdlib_module_names) <= {"sitecustomize"}
    assert list((tmp_path / "records").iterdir()) == []


def test_only_the_standard_library_is_needed(tmp_path):
    """The environment that trains need not have loaderdoctor: an interpreter without any package loads the probe."""
    source = (
        "import importlib.util, sys\n"
        "folder = sys.argv[1]\n"
        "spec = importlib.util.spec_from_file_location('_loaderdoctor_probe', folder + '/__init__.py',"
        " submodule_search_locations=[folder])\n"
        "sys.modules['_loaderdoctor_probe'] = probe = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(probe)\n"
        "probe.install(sys.argv[2])\n"
        "probe.install(sys.argv[2])\n"
        "print(len([f for f in sys.meta_path if type(f).__name__ == 'ImportHook']))\n"
    )
    probe = Path(loaderdoctor.__file__).parent / "probe"
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", source, str(probe), str(tmp_path)],
        check=True,
        capture_output=True,
        text=True,
    )
    assert (ended.stdout, ended.stderr) == ("1\n", "")
