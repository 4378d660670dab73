"""Runs a function on a module as soon as the script itself has imported it; imports nothing before the script does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .faults import pass_on

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    Patch = Callable[[ModuleType], None]


class ImportHook:
    """A finder that finds nothing itself: it lets the others find the modules of its table, and waits until they ran."""

    def __init__(self) -> None:
        self._patches: dict[str, list[Patch]] = {}
        self._searched: set[str] = set()  # names that another finder may ask for while it looks for them

    def on_import(self, name: str, patch: Patch) -> None:
        """Run `patch(module)` after each execution of the module: now if it is there, and after a reload too."""
        self._patches.setdefault(name, []).append(patch)
        module = sys.modules.get(name)
        if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
            _run(patch, module)

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """The other finders' answer, its loader made to run the patches; None for every module not in the table."""
        if name not in self._patches or name in self._searched:
            return None
        self._searched.add(name)
        try:
            spec = self._ask_the_others(name, path, target)
        finally:
            self._searched.discard(name)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            self._follow(spec.loader, name)
        return spec

    def _ask_the_others(self, name: str, path: Sequence[str] | None, target: Any) -> ModuleSpec | None:
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is not self and find is not None:
                spec: ModuleSpec | None = find(name, path, target)
                if spec is not None:
                    return spec
        return None

    def _follow(self, loader: Any, name: str) -> None:
        """Have this one loader run the patches after the module, and be as it was before."""
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            vars(loader).pop("exec_module", None)
            execute(module)
            for patch in self._patches[name]:
                _run(patch, module)

        try:
            loader.exec_module = exec_module
        except AttributeError:  # a loader that takes no attributes, such as one for built-in modules: unmeasured
            return


def _run(patch: Patch, module: ModuleType) -> None:
    try:
        patch(module)
    except Exception as error:  # a library unlike the one we know stays as it is
        pass_on(error)
        return
