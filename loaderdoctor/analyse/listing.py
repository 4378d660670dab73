"""Code that looks through files, or reads a list of them, before it yields a sample, as the stacks of making batches show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderdoctor.analyse import stats
from loaderdoctor.analyse.signals import Site
from loaderdoctor.values import Missing

if TYPE_CHECKING:
    import pandas as pd

    from loaderdoctor.values import Value

NO_STACKS = Missing("no-stacks", "Where batches take their CPU time was not recorded.")
# Functions that list files or ask after them, by the file of the standard library that they stand in; and by name in C.
_LISTS = {
    "os.py": {"walk", "_walk", "fwalk", "scandir"},
    "glob.py": {"glob", "iglob", "_iglob", "_glob0", "_glob1", "_glob2", "_rlistdir", "_iterdir", "_listdir"},
    "fnmatch.py": {"filter", "fnmatch"},
    "genericpath.py": {"getsize", "isfile", "isdir", "getmtime"},
}
_PATHS = ("_select_from", "iterdir", ".glob", ".rglob", ".walk", ".stat", ".is_file", ".is_dir", ".exists", ".scandir")
_OF_PATHS = ("pathlib.py", "pathlib/_local.py", "pathlib/__init__.py", "pathlib/_abc.py", "/glob.py")
_IN_C = ("posix.scandir", "posix.listdir", "posix.stat", "posix.lstat", "nt.scandir", "nt.listdir", "nt.stat")
_FROZEN = "<frozen "  # "<frozen os>" stands for os.py where Python keeps its own modules within itself
_OF_DATA = ("__iter__", "__getitem__", "__next__", "__getitems__")  # these hold the yielding of samples as well


def listing_of(stacks: pd.DataFrame) -> tuple[Value, Site | None]:
    """(share of the CPU time in functions that list files, and in all that they call; where the hottest one stands)."""
    whole_ns = float(stacks["cpu_ns"].sum()) if "frames" in stacks else 0.0
    if whole_ns <= 0:
        return NO_STACKS, None
    callers: dict[tuple[str, str, int], float] = {}
    for frames, cpu_ns in zip(stacks["frames"], stacks["cpu_ns"], strict=True):
        caller = _caller_of_listing(frames)
        if caller is not None:
            callers[caller] = callers.get(caller, 0.0) + cpu_ns
    if not callers:
        return stats.proportion(0.0, max(1, int(stacks["samples"].sum()))), None
    wide = {caller for caller in callers if caller[2] == 0}
    inside_ns = sum(
        cpu_ns
        for frames, cpu_ns in zip(stacks["frames"], stacks["cpu_ns"], strict=True)
        if any((function, file, 0) in wide or (function, file, line) in callers for function, file, line in frames)
    )
    function, file, line = max(callers, key=lambda caller: callers[caller])
    lines = [at for frames in stacks["frames"] for name, path, at in frames if (name, path) == (function, file)]
    return stats.proportion(inside_ns / whole_ns, max(1, int(stacks["samples"].sum()))), Site(file, line or min(lines))


def _caller_of_listing(frames: list[tuple[str, str, int]]) -> tuple[str, str, int] | None:
    """The first function that is not the library's own above one that lists; line 0 where all of it is there for that."""
    lists = False
    for function, file, line in frames:  # innermost first
        if _is_listing(function, file):
            lists = True
        elif lists and not _is_standard(file):
            return function, file, (line if function.rpartition(".")[2] in _OF_DATA else 0)
    return None


def _is_listing(function: str, file: str) -> bool:
    if function in _IN_C:
        return True
    name = function.rpartition(".")[2]
    if function == "load" and file.endswith("json/__init__.py"):
        return True  # a list of the files, or of what is in them
    if file.endswith(_OF_PATHS) and function.endswith(_PATHS):
        return True
    folder, _, base = file.rpartition("/")
    base = f"{base.removeprefix(_FROZEN).removesuffix('>')}.py" if base.startswith(_FROZEN) else base
    return "site-packages" not in folder and name in _LISTS.get(base, ())


def _is_standard(file: str) -> bool:
    """Whether the file is of Python itself: what it calls for somebody else."""
    return file.startswith("<") or (
        "/lib/python" in file and "site-packages" not in file and "dist-packages" not in file
    )
