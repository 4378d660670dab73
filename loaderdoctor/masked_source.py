"""Masks the secrets in a script's text, line by line where they stand, so that all else of it can still be patched."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from functools import lru_cache
from typing import TYPE_CHECKING

from loaderdoctor.privacy import MASK, is_given_in_confidence, masked_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    Edit = tuple[int, int, str]  # from, to, new text

HIDDEN = "***masked***"  # nobody's own text: a patch that holds it would not apply
_BYTE_ORDER_MARK = "\ufeff"
_LIKE_A_SECRET = re.compile(r"\S*[\w-]{6,}\S*")  # not `</s>`, not a sentence
_LIKE_A_KEY = re.compile(r"(?=\S*\d)\S{16,}")  # many a thing is called a key: image_key="jpg"
_HOLDS_TEXT = frozenset({tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)})
_CHOICES = (ast.BoolOp, ast.IfExp, ast.List, ast.Tuple)  # what may hand on one of several texts


@lru_cache(maxsize=64)  # a report asks for the same few files again and again
def masked_source(source: str) -> str:
    """The text with its secrets masked and as many lines; empty where it is no Python that can be read."""
    body = source.removeprefix(_BYTE_ORDER_MARK)
    try:
        known = _apply(body, list(_of_known_form(body)))
        hidden = _apply(known, list(_by_name(known)))
        ast.parse(hidden)
    except (SyntaxError, ValueError, tokenize.TokenError, RecursionError, MemoryError):
        return ""
    return source.removesuffix(body) + hidden if hidden.count("\n") == body.count("\n") else ""


def _of_known_form(source: str) -> Iterator[Edit]:
    """Edits of strings and comments that hold what can be told by its own form."""
    offsets = _line_offsets(source)
    for token in tokenize.generate_tokens(io.StringIO(source, newline="").readline):
        if token.type in _HOLDS_TEXT:
            start, end = (offsets[line - 1] + column for line, column in (token.start, token.end))
            written = source[start:end]  # FSTRING_MIDDLE has its braces undoubled
            shown = masked_text(written, keep_braces=True)
            if shown != written:
                yield start, end, shown.replace(MASK, HIDDEN)


def _by_name(source: str) -> Iterator[Edit]:
    """Edits of literals that are given to a name which announces a secret."""
    lines, offsets = source.split("\n"), _line_offsets(source)

    def offset(line: int, column: int) -> int:
        """Syntax trees count the bytes of a line."""
        return offsets[line - 1] + len(lines[line - 1].encode()[:column].decode())

    done = set()
    for name, value in _named(ast.parse(source)):
        for text in _texts(value):
            start = offset(text.lineno, text.col_offset)
            if start not in done and is_given_in_confidence(name) and _looks_secret(name, text.value):
                done.add(start)
                end = offset(text.end_lineno or text.lineno, text.end_col_offset or 0)
                yield start, end, _literal(text.value, source.count("\n", start, end))


def _named(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names, and the expressions that are given to them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield from ((_name(target), node.value) for target in node.targets)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            yield _name(node.target), node.value
        elif isinstance(node, ast.Dict):
            yield from ((_text(key), value) for key, value in zip(node.keys, node.values, strict=True))
        elif isinstance(node, ast.arguments):
            of_all = [*node.posonlyargs, *node.args]
            defaults = zip(of_all[len(of_all) - len(node.defaults) :], node.defaults, strict=True)
            named = (*defaults, *zip(node.kwonlyargs, node.kw_defaults, strict=True))
            yield from ((argument.arg, value) for argument, value in named if value is not None)
        elif isinstance(node, ast.Call):
            yield from _of_call(node)


def _of_call(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """`login(token="x")`, `os.environ.setdefault("TOKEN", "x")`, `add_argument("--token", default="x")`."""
    said = _text(call.args[0]) if call.args else ""
    yield from ((said, value) for value in call.args[1:])
    for keyword in call.keywords:
        yield (said if keyword.arg == "default" else keyword.arg or ""), keyword.value


def _name(target: ast.expr) -> str:
    if isinstance(target, ast.Subscript):
        return _text(target.slice)
    return target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")


def _text(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _texts(value: ast.expr) -> Iterator[ast.Constant]:
    if isinstance(value, ast.Constant) and isinstance(value.value, (str, bytes)):
        yield value
    elif isinstance(value, _CHOICES):
        for part in ast.iter_child_nodes(value):
            if isinstance(part, ast.expr):
                yield from _texts(part)


def _looks_secret(name: str, value: object) -> bool:
    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    form = _LIKE_A_KEY if re.search(r"(?:^|_)keys?$", name.lower()) and "api" not in name.lower() else _LIKE_A_SECRET
    return bool(form.fullmatch(text))


def _literal(value: object, breaks: int) -> str:
    quotes = '"""' if breaks else '"'
    return ("b" if isinstance(value, bytes) else "") + quotes + HIDDEN + "\n" * breaks + quotes


def _apply(source: str, edits: list[Edit]) -> str:
    for start, end, text in sorted(edits, reverse=True):
        source = source[:start] + text + source[end:]
    return source


def _line_offsets(source: str) -> list[int]:
    offsets = [0]
    for line in source.split("\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    return offsets
