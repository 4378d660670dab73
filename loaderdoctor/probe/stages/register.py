"""Puts the wrappers on, each when its library is imported."""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from .._importlib_bootstrap import compose
from .._importlib_bootstrap.timed import timed
from . import table

if TYPE_CHECKING:
    from collections.abc import Callable

    OnImport = Callable[[str, Callable[[ModuleType], None]], None]
    NameOf = Callable[[tuple[Any, ...]], str]


def register(on_import: OnImport) -> None:
    """Have every library of the table wrapped when it is imported, or now if it has been."""
    for module, rows in table.FUNCTIONS.items():
        on_import(module, _wrapper_of_functions(rows))
    for module, rows in table.METHODS_BY_CLASS.items():
        on_import(module, _wrapper_of_methods(rows))
    on_import("torchvision.transforms.transforms", compose.wrap_v1)
    on_import("torchvision.transforms.v2._container", compose.wrap_v2)


def _wrapper_of_functions(rows: tuple[tuple[str, str], ...]) -> Callable[[ModuleType], None]:
    def wrap(module: ModuleType) -> None:
        for path, stage in rows:
            _replace(module, path, _constant(f"{stage}:{module.__name__}.{path}"))

    return wrap


def _wrapper_of_methods(rows: tuple[tuple[str, str], ...]) -> Callable[[ModuleType], None]:
    def wrap(module: ModuleType) -> None:
        for path, pattern in rows:
            _replace(module, path, _named_by_class(pattern))

    return wrap


def _constant(name: str) -> NameOf:
    return lambda _arguments: name


def _named_by_class(pattern: str) -> NameOf:
    return lambda arguments: pattern.format(type(arguments[0]).__name__ if arguments else "")


def _replace(module: ModuleType, path: str, name_of: NameOf) -> None:
    """Replace a function of the module, or a method that its class defines itself; once."""
    *classes, attribute = path.split(".")
    owner: Any = module
    for name in classes:
        owner = getattr(owner, name, None)
    function = vars(owner).get(attribute) if owner is not None else None
    if not callable(function) or isinstance(function, type) or hasattr(function, "__loaderdoctor__"):
        return
    if classes and not isinstance(function, FunctionType):
        return
    setattr(owner, attribute, timed(function, name_of))
