"""Small scripts to which a profiler could do harm through the libraries that they use: the same with the tool as without."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from installed import need
from under_the_tool import profiled, read_report, run

import loaderdoctor

pytestmark = pytest.mark.slow

HARM = Path(__file__).with_name("harm")
SCRIPTS_LIBRARIES = (
    *("PIL", "cv2", "pandas", "pyarrow", "h5py", "lmdb", "soundfile", "librosa", "torchvision", "albumentations"),
    *("tokenizers", "transformers", "tifffile", "imageio", "skimage", "zarr", "nibabel", "monai", "polars"),
)

# script: what it needs beside torch and numpy, and how many lines it prints
INPUTS = {
    "c_function": ((), 1),
    "c_function_in_dataset": ((), 8),
    "cv2_from_bytes": (("cv2",), 32),
    "pickled_by_reference": (("pandas", "pyarrow", "tables"), 12),
    "datasets_fingerprint": (("datasets", "PIL", "pyarrow", "pandas"), 6),
    "tv_tensors": (("torchvision",), 9),
    "lazy_module": ((), 1),
}


def assert_the_same(command, tmp_path, lines):
    """What the command prints, with the tool and without it."""
    for name in ("plain", "profiled"):
        (tmp_path / name).mkdir()
    plain = run([sys.executable, *command], tmp_path / "plain")
    done, report = profiled(command, tmp_path / "profiled")
    assert plain.status == 0, plain.stderr
    assert (done.status, done.stdout) == (plain.status, plain.stdout)
    assert len(plain.stdout.splitlines()) == lines
    assert report["run"]["ended_by"] == "script"
    assert str(Path(loaderdoctor.__file__).parent) not in done.stderr
    return plain.stdout, report


@pytest.mark.parametrize("script", INPUTS)
def test_a_script_that_uses_libraries_does_the_same_as_without_us(script, tmp_path):
    libraries, lines = INPUTS[script]
    need(*libraries)
    assert_the_same([str(HARM / f"{script}.py")], tmp_path, lines)


@pytest.mark.parametrize("num_workers", ["0", "2"])
def test_libraries_do_the_same_in_a_data_set(num_workers, tmp_path):
    need(*SCRIPTS_LIBRARIES)
    uses = (HARM / "libraries.py").read_text(encoding="utf-8").count("@use\n")
    said, report = assert_the_same([str(HARM / "libraries.py"), num_workers], tmp_path, uses)
    failed = [line.split()[0] for line in said.splitlines() if line.split()[1].endswith(("error:", "Error:"))]
    assert failed == ["cv2_bad_arguments", "numpy_misses"]
    assert [loader["batches"] for loader in report["loaders"]] == [uses]


def test_a_data_set_that_holds_a_librarys_function_goes_to_a_spawned_worker(tmp_path):
    command = [sys.executable, str(HARM / "api_spawn_pickle.py")]
    plain, done = (run([*command, how], tmp_path) for how in ("without", "with"))
    assert plain.status == 0, plain.stderr
    assert (done.status, done.stdout) == (plain.status, plain.stdout)
    assert plain.stdout.splitlines()[-1] == "952 True"
    assert [loader["batches"] for loader in read_report(tmp_path / "run", done.stderr)["loaders"]] == [8]
