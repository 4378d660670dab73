"""Which line of the script builds a loader."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType, FrameType

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_STDLIB = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def site_of(frame: FrameType | None, built: Any) -> str:
    """Tell the "file:line" of the innermost frame that is the script's own; "" where there is none.

    Frames of subclasses' `__init__` of the object that is being built are passed over: the line wanted is the one
    that says DataLoader(...) or MyLoader(...).  A script that is itself installed gives its line too.
    """
    installed = ""
    while frame is not None:
        code = frame.f_code
        if not _is_machinery(code) and not _is_constructor(frame, built):
            site = f"{code.co_filename}:{frame.f_lineno}"
            if not any(part in code.co_filename for part in _INSTALLED):
                return site
            installed = installed or site
        frame = frame.f_back
    return installed


def _is_machinery(code: CodeType) -> bool:
    """Whether the code is Python's, torch's or ours."""
    name = code.co_filename
    if name.startswith(("<frozen", _OURS)) or _torch_folder() in name:
        return True
    return name.startswith(_STDLIB) and not any(part in name for part in _INSTALLED)


def _torch_folder() -> str:
    torch: Any = sys.modules.get("torch")
    return os.path.dirname(getattr(torch, "__file__", None) or "/no/torch/file") + os.sep


def _is_constructor(frame: FrameType, built: Any) -> bool:
    """Whether the frame runs an `__init__` of the object's classes.

    Told by its code: a look at the frame's locals would keep them all alive for as long as the frame is, deleted ones too.
    """
    code = frame.f_code
    return code.co_name == "__init__" and any(
        _code_of(vars(kind).get("__init__")) is code for kind in type(built).__mro__
    )


def _code_of(function: Any) -> CodeType | None:
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code: CodeType | None = getattr(function, "__code__", None)
    return code
