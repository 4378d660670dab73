"""Whether a function is the one that we know, before we stand in for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .standard import standard

if TYPE_CHECKING:
    from collections.abc import Callable


def is_known(function: Callable[..., Any], digests: frozenset[str]) -> bool:
    """Whether the function's source, annotations and docstring aside, has one of the digests."""
    return digest(function) in digests


def digest(function: Callable[..., Any]) -> str:
    """First 16 hex digits of the SHA-256 of the function's normalised source; "" where there is no source."""
    ast, hashlib, inspect, textwrap = (standard(name) for name in ("ast", "hashlib", "inspect", "textwrap"))
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return ""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            _strip(node)
    return str(hashlib.sha256(ast.unparse(tree).encode()).hexdigest()[:16])


def _strip(node: Any) -> None:
    """Take off what changes between versions without changing what the function does."""
    ast: Any = standard("ast")
    node.returns = None
    node.decorator_list = []
    arguments = node.args
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
        if argument is not None:
            argument.annotation = None
    first = node.body[0]
    if len(node.body) > 1 and isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        node.body = node.body[1:]
