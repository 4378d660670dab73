"""House rules that no linter holds: short files, one opening sentence, reasons, documented messages."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest
from source import PACKAGE, ROOT, comments, files_of_tests, label, package_files, tree

if TYPE_CHECKING:
    from pathlib import Path

EVERY_FILE = [*package_files(), *files_of_tests()]
MOST_LINES = 400
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "misc", "common"}
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
MESSAGES = ROOT / "docs" / "messages.md"
TELLING_CALLS = {"LoaderDoctorError", "Note", "note", "_note", "add_note"}  # their first argument that is a slug


@pytest.mark.parametrize("path", EVERY_FILE, ids=label)
def test_a_file_is_short_and_named_by_what_it_holds(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES
    assert path.stem not in VAGUE_NAMES


@pytest.mark.parametrize("path", EVERY_FILE, ids=label)
def test_a_module_opens_with_one_sentence(path):
    opening = (ast.get_docstring(tree(path)) or "").split("\n\n")[0]
    assert opening.endswith((".", ":")), "no sentence"
    assert len(re.findall(r"[.!?](?:\s+[A-Z]|$)", opening)) <= 1, "more than one sentence"


@pytest.mark.parametrize("path", EVERY_FILE, ids=label)
def test_an_exception_from_the_rules_says_why(path):
    marks = [(line, text) for line, text in comments(path) if "noqa" in text or "type: ignore" in text]
    reason = re.compile(
        r"# ((?:ruff: )?noqa: [A-Z]+\d+(, ?[A-Z]+\d+)*|type: ignore\[[a-z-]+(, ?[a-z-]+)*\]) +(- |# )\S+"
    )
    assert [(line, text) for line, text in marks if not reason.search(text)] == []


@pytest.mark.parametrize("path", EVERY_FILE, ids=label)
def test_nothing_is_left_for_later(path):
    assert [(line, text) for line, text in comments(path) if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", text)] == []


def told_slugs(path: Path) -> set[str]:
    """Slugs of the errors and notes that the file tells a user."""
    slugs = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in TELLING_CALLS:
                slugs |= {text for argument in node.args for text in [string(argument)] if SLUG.fullmatch(text)}
        elif isinstance(node, ast.Dict):
            keys = [string(key) for key in node.keys]
            slugs |= {string(value) for key, value in zip(keys, node.values, strict=True) if key == "slug"} - {""}
    return slugs


def string(node: ast.expr | None) -> str:
    """The text of a literal string, empty for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def documented_slugs() -> list[str]:
    return re.findall(r"^## (\S+)$", MESSAGES.read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_every_message_has_a_section():
    told = set().union(*(told_slugs(path) for path in package_files()))
    assert told - set(documented_slugs()) == set()


def test_every_section_belongs_to_a_message_and_occurs_once():
    strings = {string(node) for path in package_files() for node in ast.walk(tree(path)) if isinstance(node, ast.expr)}
    documented = documented_slugs()
    assert set(documented) - strings == set()
    assert len(documented) == len(set(documented))


def test_every_cause_file_has_a_page_and_every_page_a_cause():
    pages = {path.stem for path in (PACKAGE / "causes").glob("*.md")}
    declared = {
        path.stem
        for path in (PACKAGE / "causes").glob("*.py")
        if any(isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Cause" for node in ast.walk(tree(path)))
    }
    assert pages == declared
