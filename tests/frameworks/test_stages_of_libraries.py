"""Each row of the table of stages with its real library: heard as it is called in a data set, and the object that it was."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from installed import need
from probing import main_of, run, workers_of

from loaderdoctor.probe.stages import table

SCRIPT = Path(__file__).with_name("scripts") / "stages_of.py"
IN_NO_RELEASE_OF_TODAY = {"torchvision.io.video:read_video"}
TRANSFORMS_OF_THE_CONTAINERS = {"transform:CenterCrop"}

# library, as the script calls it: what it needs beside torch
LIBRARIES = {
    "pil": ("PIL",),
    "cv2": ("cv2",),
    "numpy": ("numpy",),
    "torch": (),
    "pandas": ("pandas",),
    "pandas_by_pyarrow": ("pandas", "pyarrow"),
    "pandas_by_tables": ("pandas", "tables"),
    "pyarrow": ("pyarrow",),
    "h5py": ("h5py",),
    "lmdb": ("lmdb",),
    "zipfile": (),
    "tarfile": (),
    "torchaudio": ("torchaudio",),
    "soundfile": ("soundfile",),
    "librosa": ("librosa", "soundfile"),
    "decord": ("decord", "cv2"),
    "torchvision": ("torchvision",),
    "albumentations": ("albumentations",),
    "transformers": ("transformers",),
    "tokenizers": ("tokenizers",),
}


def rows():
    """{"module:path": the stages that its call is}"""
    functions = {
        f"{module}:{path}": {f"{stage}:{module}.{path}"}
        for module, paths in table.FUNCTIONS.items()
        for path, stage in paths
    }
    functions["pyarrow.parquet:read_table"] = functions["pyarrow.parquet.core:read_table"]  # one function by two names
    containers = {f"{module}:{path}" for module, paths in table.CONTAINERS.items() for path in paths}
    return functions | dict.fromkeys(containers, TRANSFORMS_OF_THE_CONTAINERS)


def test_every_row_is_called():
    called = re.findall(r'"([\w.]+:[\w.]+)": ', SCRIPT.read_text(encoding="utf-8"))
    assert sorted(called) == sorted(set(rows()) - IN_NO_RELEASE_OF_TODAY)
    assert set(LIBRARIES) == set(re.findall(r"^def of_(\w+)", SCRIPT.read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_row_is_a_stage_as_it_is_called_and_nothing_else_than_without_us(library, tmp_path):
    need(*LIBRARIES[library])
    plain, probed = (tmp_path / name for name in ("plain", "probed"))
    for folder in (plain, probed):
        folder.mkdir()
    native = run(SCRIPT, None, library, str(plain))
    done = run(SCRIPT, tmp_path, library, str(probed))
    lengths, told = native.stdout.splitlines()[:2], [line.split() for line in native.stdout.splitlines()[2:]]

    assert done.stdout == native.stdout
    assert lengths == ["6", "6"]
    assert {same for _, same, *_ in told} == {"True"}
    expected = set().union(*(rows()[name] for name, *_ in told))
    for process in (main_of(tmp_path), *workers_of(tmp_path)):
        assert expected - {row["name_text"] for row in process.of("stage")} == set(), process.role
    assert len(workers_of(tmp_path)) == 1
