"""What a line of the script's own code calls, and whether that depends on the sample that is asked for."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_OWN = {"self", "cls"}
_BY_CHANCE = ("rand", "choice", "sample", "shuffle", "next", "pop")  # parts of names that give something else each time
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class CallAt:
    """A call on a line: `name` as it is written, "self.files.open"; `varies` where it depends on the sample."""

    name: str
    varies: bool
    in_loop_head: bool = False  # what a loop on that line runs over

    @property
    def last(self) -> str:
        """The last part of its name."""
        return self.name.rpartition(".")[2]


def calls_at(source: str, line: int) -> tuple[CallAt, ...]:
    """The calls of the statement that the line belongs to; none where the source is not Python."""
    return _calls(source).get(line, ())


@lru_cache(maxsize=32)
def _calls(source: str) -> dict[int, tuple[CallAt, ...]]:
    """The calls by line, a statement's at each of its lines."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[int, list[CallAt]] = {}
    methods = {part for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for part in node.body}
    for function, statement in _statements(tree):
        varying = _varying(function, function in methods) if function is not None else frozenset()
        heads = [part for part in ast.iter_child_nodes(statement) if not isinstance(part, ast.stmt | ast.ExceptHandler)]
        calls = [call for head in heads for call in ast.walk(head) if isinstance(call, ast.Call)]
        loops = [part for part in ast.walk(statement) if isinstance(part, ast.For | ast.comprehension)]
        looped = {id(part) for loop in loops for part in ast.walk(loop.iter)}
        lines = {line for head in heads for line in _lines(head)} | {statement.lineno}
        for call in calls:
            one = CallAt(_dotted(call.func), _varies(call, varying), id(call) in looped)
            for line in lines:
                found.setdefault(line, []).append(one)
    return {line: tuple(calls) for line, calls in found.items()}


def _statements(tree: ast.AST, function: _Function | None = None) -> Iterator[tuple[_Function | None, ast.stmt]]:
    """Each statement with the function that it lies in."""
    for node in ast.iter_child_nodes(tree):
        inside = node if isinstance(node, _Function) else function
        if isinstance(node, ast.stmt) and not isinstance(node, _Function | ast.ClassDef):
            yield function, node
        yield from _statements(node, inside)


def _lines(node: ast.AST) -> range:
    first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    return range(first, last + 1) if first is not None and last is not None else range(0)


@lru_cache(maxsize=256)
def _varying(function: _Function, is_method: bool) -> frozenset[str]:
    """Names that hold something else for each sample: arguments, what loops run over, and what is made of those.

    A method's first argument is its object, whatever it is called.
    """
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    names = {one.arg for one in every if one is not None} - _OWN
    if is_method:
        names -= {one.arg for one in [*arguments.posonlyargs, *arguments.args][:1]}
    before = -1
    while len(names) != before:  # what is assigned further down may be used further up, in a loop
        before = len(names)
        for node in ast.walk(function):
            names |= _assigned(node, names)
    return frozenset(names)


def _assigned(node: ast.AST, varying: set[str]) -> set[str]:
    """The names that this part of a function sets to something that varies."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.For | ast.comprehension):
        targets = [node.target]
    elif isinstance(node, ast.Assign) and _varies(node.value, varying):
        targets = node.targets
    elif (
        isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr)
        and node.value is not None
        and _varies(node.value, varying)
    ):
        targets = [node.target]
    elif isinstance(node, ast.withitem) and node.optional_vars is not None and _varies(node.context_expr, varying):
        targets = [node.optional_vars]
    return {name for target in targets for name in _names(target)}


def _names(target: ast.expr) -> Iterator[str]:
    """What an assignment sets; an item that is set changes what it is in, and never `self`."""
    if isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from _names(part)
    elif isinstance(target, ast.Starred | ast.Subscript):
        yield from _names(target.value)
    elif name := _dotted(target):
        yield name


def _varies(node: ast.AST, varying: frozenset[str] | set[str]) -> bool:
    for part in ast.walk(node):
        if isinstance(part, ast.Name | ast.Attribute) and _dotted(part) in varying:
            return True
        if isinstance(part, ast.Call) and any(word in _dotted(part.func).lower() for word in _BY_CHANCE):
            return True
    return False


def _dotted(node: ast.AST) -> str:
    """A name as it is written; what is no name in it is left out."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}".lstrip(".")
    return ""
