"""What causes, signals, samplers and recorders say in English, read from the source: sentences with holes for their values."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import loaderdoctor

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDERS = ("causes", "analyse", "predict", "sample", "launch", "record", "probe")
HOLE = "{}"
# Not for a reader of the report: defences of thresholds and titles, which `explain` shows, and what only raises an error.
SILENT_CALLS = {"Threshold": slice(2, None), "LoaderDoctorError": slice(0, None), "compile": slice(0, None)}
SILENT_KEYWORDS = {"title", "example"}
A_SENTENCE = re.compile(r"[A-Za-z][a-z'-]* .*[a-z{]")  # two words at least, the first of them a word
A_TABLE = re.compile(r"[a-z_0-9]+( [a-z_0-9]+)*")  # names of fields or of file systems, one after the other


def sentences() -> dict[str, str]:
    """Each sentence, and the file that says it."""
    package = Path(loaderdoctor.__file__).parent
    found: dict[str, str] = {}
    for folder in FOLDERS:
        for path in sorted((package / folder).rglob("*.py")):
            for text in _said_in(ast.parse(path.read_text(encoding="utf-8"))):
                found.setdefault(text, path.relative_to(package).as_posix())
    return found


def _said_in(tree: ast.AST) -> Iterator[str]:
    silent = {id(node) for node in _silent(tree)}
    for node in ast.walk(tree):
        if id(node) in silent:
            continue
        text = _text(node)
        if text is not None and _is_said(text):
            yield text


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else HOLE for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _is_said(text: str) -> bool:
    words = text.strip()
    return "\n" not in words and bool(A_SENTENCE.search(words)) and not (A_TABLE.fullmatch(words) and "_" in words)


def _silent(tree: ast.AST) -> Iterator[ast.AST]:
    """Docstrings, parts of a longer text, and what the calls above are given."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr):
                yield from ast.walk(first)
        if isinstance(node, ast.JoinedStr):
            yield from node.values
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            for argument in node.args[SILENT_CALLS[name]] if name in SILENT_CALLS else ():
                yield from ast.walk(argument)
            for keyword in node.keywords:
                if keyword.arg in SILENT_KEYWORDS:
                    yield from ast.walk(keyword.value)
