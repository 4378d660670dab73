"""Finds the one call that builds a loader, and where each of its arguments stands in the text."""

from __future__ import annotations

import ast
import io
import tokenize
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeGuard

LOADER = "DataLoader"
_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_LAYOUT = frozenset({tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT})


@dataclass(frozen=True)
class Argument:
    """One argument as written: offsets of its text, of its value, and of the comma behind it."""

    name: str | None  # None: by position
    start: int
    value_start: int
    end: int
    comma: int | None


@dataclass(frozen=True)
class Call:
    """A loader's call in its source; all offsets count characters of `source`."""

    source: str
    is_plain: bool  # called DataLoader itself, whose positional arguments are known
    opening: int
    closing: int
    arguments: tuple[Argument, ...]


def find_call(source: str, line: int) -> Call | None:
    """The only DataLoader-like call at this line (1-based), or None.

    None too where its arguments cannot be told from the text: `*args`, `**kwargs`, or a bare generator expression.
    """
    try:
        tree = ast.parse(source)
        tokens = list(tokenize.generate_tokens(io.StringIO(source, newline="").readline))
    except (SyntaxError, ValueError, tokenize.TokenError):
        return None
    aliases = _aliases(tree)
    calls = [node for node in ast.walk(tree) if _is_loader(node, aliases) and node.lineno <= line <= _end(node)]
    if len(calls) > 1:
        calls = [node for node in calls if node.lineno == line]
    if len(calls) != 1 or not _is_written_out(calls[0]) or not _takes_keywords(tree, _called(calls[0], aliases)):
        return None
    return _read(source, calls[0], tokens, aliases)


def _aliases(tree: ast.AST) -> dict[str, str]:
    """Local name -> name where it comes from, for `from x import DataLoader as D`."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return {name.asname: name.name for node in imports for name in node.names if name.asname}


def _called(node: ast.Call, aliases: dict[str, str]) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return aliases.get(node.func.id, node.func.id) if isinstance(node.func, ast.Name) else ""


def _is_loader(node: ast.AST, aliases: dict[str, str]) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and _called(node, aliases).endswith(LOADER)


def _end(node: ast.Call) -> int:
    return node.end_lineno or node.lineno


def _is_written_out(node: ast.Call) -> bool:
    unpacked = any(isinstance(argument, ast.Starred) for argument in node.args)
    gathered = any(keyword.arg is None for keyword in node.keywords)
    bare_generator = len(node.args) == 1 and not node.keywords and isinstance(node.args[0], ast.GeneratorExp)
    return not (unpacked or gathered or bare_generator)


def _takes_keywords(tree: ast.AST, name: str) -> bool:
    """Whether what is called may take the DataLoader's own arguments: a class of another file is taken to hand them on.

    One of this file whose __init__ has a signature of its own does not, nor does a function that builds loaders.
    """
    defined = [node for node in ast.walk(tree) if isinstance(node, _DEFINITIONS) and node.name == name]
    if not defined:
        return name[:1].isupper()
    made = [one for node in defined for one in _inits(node)]
    return all(isinstance(node, ast.ClassDef) for node in defined) and all(one.args.kwarg is not None for one in made)


def _inits(node: ast.AST) -> Iterator[ast.FunctionDef]:
    return (one for one in ast.iter_child_nodes(node) if isinstance(one, ast.FunctionDef) and one.name == "__init__")


@dataclass(frozen=True)
class _Token:
    """A token with its offsets in the whole text."""

    text: str
    is_operator: bool
    start: int
    end: int


def _read(source: str, node: ast.Call, tokens: Sequence[tokenize.TokenInfo], aliases: dict[str, str]) -> Call | None:
    lines = source.split("\n")
    offsets = _line_offsets(source)

    def of_ast(line: int | None, column: int | None) -> int:
        """Syntax trees count the bytes of a line."""
        index = (line or node.lineno) - 1
        return offsets[index] + len(lines[index].encode()[: column or 0].decode())

    behind_name = of_ast(node.func.end_lineno, node.func.end_col_offset)
    closing = of_ast(node.end_lineno, node.end_col_offset) - 1
    inside = [token for token in _placed(tokens, offsets) if behind_name <= token.start < closing]
    opening = next((token.start for token in inside if token.text == "("), None)
    if opening is None:
        return None
    values = [*node.args, *(keyword.value for keyword in node.keywords)]
    ends = sorted(of_ast(value.end_lineno, value.end_col_offset) for value in values)
    arguments = tuple(_arguments([token for token in inside if token.start > opening], ends))
    return Call(source, _called(node, aliases) == LOADER, opening, closing, arguments)


def _placed(tokens: Sequence[tokenize.TokenInfo], offsets: Sequence[int]) -> Iterator[_Token]:
    for token in tokens:
        if token.type not in _LAYOUT:
            start, end = (offsets[line - 1] + column for line, column in (token.start, token.end))
            yield _Token(token.string, token.type == tokenize.OP, start, end)


def _arguments(tokens: Sequence[_Token], ends: Sequence[int]) -> Iterator[Argument]:
    """Split what stands between the call's parentheses at its own commas: the first behind each value's end."""
    remaining = iter(tokens)
    for end in ends:
        part: list[_Token] = []
        comma = None
        for token in remaining:
            if token.is_operator and token.text == "," and token.start >= end:
                comma = token.start
                break
            part.append(token)
        yield _argument(part, comma)


def _argument(part: Sequence[_Token], comma: int | None) -> Argument:
    by_name = len(part) > 2 and part[1].is_operator and part[1].text == "="  # noqa: PLR2004 - name, =, value
    value = part[2] if by_name else part[0]
    return Argument(part[0].text if by_name else None, part[0].start, value.start, part[-1].end, comma)


def _line_offsets(source: str) -> list[int]:
    offsets = [0]
    for line in source.split("\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    return offsets


def line_start(source: str, offset: int) -> int:
    """Offset of the first character of the line that holds `offset`."""
    offsets = _line_offsets(source)
    return offsets[bisect_right(offsets, offset) - 1]


def line_end(source: str, offset: int) -> int:
    """Offset just behind the last character of that line, before its line break."""
    found = source.find("\n", offset)
    end = len(source) if found < 0 else found
    return end - 1 if end > offset and source[end - 1] == "\r" else end
