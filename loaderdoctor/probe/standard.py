"""Python's own modules, also where a script has files of the same names beside it: ours never runs those.

While the probe is loaded, the bootstrap leaves only the standard library to import from.  What it needs later is imported then too
where the script hides it, and kept here; the script's own import of that name finds the script's file as before.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

LATER = ("atexit", "resource", "fcntl", "inspect", "json", "ctypes", "ast", "hashlib", "textwrap", "dis", "zlib")
_own: dict[str, ModuleType] = {}


def standard(name: str) -> ModuleType:
    """The module of the standard library with this name.  Raises ImportError where this platform has none."""
    return _own.get(name) or import_module(name)


def keep_hidden(names: list[str]) -> None:
    """Import now, and keep, those of LATER that the script has a file of the same name for."""
    for name in names:
        try:
            _own[name] = import_module(name)
        except ImportError:  # not on this platform
            continue
