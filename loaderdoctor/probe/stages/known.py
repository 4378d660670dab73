"""Knows a stage by what is called: the code of a Python function, or the function itself where it is written in C."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from . import table

if TYPE_CHECKING:
    from types import CodeType, FrameType

_METHODS_OF_CALLING = ("_wrapped_call_impl", "__call__", "forward")  # say nothing of the transform whose they are


class Known:
    """The stages of the libraries that the script has imported so far."""

    def __init__(self) -> None:
        self.codes: dict[CodeType, str] = {}
        self.functions: dict[Any, str] = {}
        self.methods: dict[tuple[type, str], str] = {}
        self.containers: set[CodeType] = set()
        self._functions_left = dict(table.FUNCTIONS)
        self._containers_left = dict(table.CONTAINERS)

    def refresh(self) -> None:
        """Look up what has been imported since the last time; imports nothing."""
        for name in _imported(self._functions_left):
            for path, stage in self._functions_left.pop(name):
                self._take(_found(sys.modules[name], path), path, f"{stage}:{name}.{path}")
        for name in _imported(self._containers_left):
            for path in self._containers_left.pop(name):
                code = getattr(_found(sys.modules[name], path)[1], "__code__", None)
                if code is not None:
                    self.containers.add(code)

    def of_call(self, frame: FrameType) -> str | None:
        """The stage that begins with this frame, if any."""
        stage = self.codes.get(frame.f_code)
        if stage is not None:
            return stage
        caller = frame.f_back
        if caller is None or caller.f_code not in self.containers:
            return None
        return f"transform:{_name_of(frame)}"

    def pixels_of(self, frame: FrameType) -> tuple[int, int]:
        """Pixels of the image that a stage which has just begun takes and gives; 0 where it is not one of Pillow's that tells.

        Only plain attributes of Pillow's own classes are read: nothing of the script runs.
        """
        ask = _PIXELS.get(getattr(frame.f_code, "co_qualname", ""))
        if ask is None or not frame.f_globals.get("__name__", "").startswith("PIL."):
            return 0, 0
        given = frame.f_locals
        image = given.get("self")
        return ask(image, given) if type(image).__module__.startswith("PIL.") else (0, 0)

    def of_c_call(self, function: Any) -> str | None:
        """The stage that begins with this call of a function written in C, if any."""
        try:
            stage = self.functions.get(function)
            return stage or self.methods.get((type(function.__self__), function.__name__))
        except (TypeError, AttributeError):  # not to be hashed; bound to nothing
            return None

    def _take(self, found: tuple[Any, Any], path: str, stage: str) -> None:
        owner, function = found
        code = getattr(function, "__code__", None)
        if code is not None:
            self.codes[code] = stage
        elif isinstance(owner, type):
            self.methods[owner, path.rpartition(".")[2]] = stage
        elif callable(function) and not isinstance(function, type):
            self.functions[function] = stage


def _imported(left: dict[str, Any]) -> list[str]:
    """Those of the modules that the script has imported entirely."""
    return [
        name
        for name in left
        if name in sys.modules and not getattr(getattr(sys.modules[name], "__spec__", None), "_initializing", False)
    ]


def _found(module: Any, path: str) -> tuple[Any, Any]:
    """(owner, function) without the decorators around it, whose code is that of many functions; None where it is absent."""
    owner, function = None, module
    for name in path.split("."):
        owner, function = function, getattr(function, name, None)
    seen = 0
    while seen < 10 and (inner := getattr(function, "__wrapped__", None) or getattr(function, "_implementation", None)):  # noqa: PLR2004 - no function has so many decorators
        function, seen = inner, seen + 1
    return owner, function


def _decoded(image: Any, _given: Any) -> tuple[int, int]:
    """Of ImageFile.load: an image is decoded once, and has no tiles left then."""
    return (0, _area(image.size)) if image.tile else (0, 0)


def _resized(image: Any, given: Any) -> tuple[int, int]:
    return _area(image.size), _area(given.get("size"))


_PIXELS = {"ImageFile.load": _decoded, "Image.resize": _resized}


def _area(size: Any) -> int:
    if type(size) not in {tuple, list} or any(type(side) is not int for side in size):
        return 0
    width, height = size
    return int(width * height)


def _name_of(frame: FrameType) -> str:
    """What a container called: the transform's class, or the function's name.

    A frame that has just begun has nothing but its arguments, which its caller holds as well.
    """
    code = frame.f_code
    if code.co_name in _METHODS_OF_CALLING and code.co_argcount:
        return type(frame.f_locals.get(code.co_varnames[0])).__name__
    return code.co_name
