"""The package's own source, as tests read it: files, imports, comments, strings."""

from __future__ import annotations

import ast
import io
import tokenize
from functools import cache
from pathlib import Path

import loaderdoctor

PACKAGE = Path(loaderdoctor.__file__).parent
TESTS = Path(__file__).parent
ROOT = TESTS.parent
BROUGHT_IN = ("simaccel", "traces")  # folders of tests/ that are kept as they came


def package_files() -> list[Path]:
    """Every Python file of the installed package."""
    return sorted(PACKAGE.rglob("*.py"))


def files_of_tests() -> list[Path]:
    """Every Python file of the tests but those that were brought in."""
    files = sorted(TESTS.rglob("*.py"))
    return [path for path in files if path.relative_to(TESTS).parts[0] not in BROUGHT_IN]


def label(path: Path) -> str:
    """How a test names the file."""
    base = PACKAGE.parent if path.is_relative_to(PACKAGE) else ROOT
    return path.relative_to(base).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    """The file, parsed as the oldest supported Python would."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=(3, 10))


def comments(path: Path) -> list[tuple[int, str]]:
    """(line, text) of every comment."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    return [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]


def module_name(path: Path) -> str:
    """The dotted name under which the package's file is imported."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> set[str]:
    """Absolute names of all that the file imports, wherever in it; a name from a package counts if it is a module."""
    package = module_name(path) if path.name == "__init__.py" else module_name(path).rpartition(".")[0]
    names = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= _from(node, package)
    return names


def _from(node: ast.ImportFrom, package: str) -> set[str]:
    base = node.module or ""
    if node.level:
        around = package.split(".")[: len(package.split(".")) - node.level + 1]
        base = ".".join([*around, base] if base else around)
    modules = {f"{base}.{alias.name}" for alias in node.names if _is_module(f"{base}.{alias.name}")}
    every_name_is_a_module = len(modules) == len(node.names)
    return modules if every_name_is_a_module else modules | {base}


def _is_module(name: str) -> bool:
    path = PACKAGE.parent.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()
